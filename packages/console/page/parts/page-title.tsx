import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The title of a view. It takes the focus when the view is opened, so that a screen reader says where one is. */
export function PageTitle({
  title,
  children,
  tools,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly tools?: ComponentChildren;
}): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Strandline`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div class="page-title">
      <h1 ref={heading} tabIndex={-1}>
        {children ?? title}
      </h1>
      {tools !== undefined && <div class="tools">{tools}</div>}
    </div>
  );
}
