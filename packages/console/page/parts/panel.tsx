import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface PanelOptions {
  readonly title: string;
  /** Beside the title: what can be done with the whole. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A titled part of a view. */
export function Panel({ title, tools, children }: PanelOptions): JSX.Element {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {tools !== undefined && <div class="tools">{tools}</div>}
      </header>
      {children}
    </section>
  );
}

/** Said where there is nothing to list. */
export function Nothing({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <p class="nothing">{children}</p>;
}

/** Names and their values. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [string, ComponentChildren])[];
}): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
