import type { JSX } from 'preact';
import { visible, visibleParts } from '../text/visible.ts';

/** Somebody else's text: nothing of it is hidden, and it moves nothing around it. */
export function Foreign({ text }: { readonly text: string }): JSX.Element {
  return (
    <bdi dir="ltr" class="foreign">
      {visibleParts(text).map((part, at) =>
        part.hidden ? (
          <span key={at} class="hidden-char" title="A character that can't be seen">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </bdi>
  );
}

/** Characters of a key that are shown: its beginning and its end. */
const HEAD = 60;
const TAIL = 20;

/** A key, cut in the middle where it is long. */
export function KeyText({
  text,
  whole = false,
}: {
  readonly text: string;
  readonly whole?: boolean;
}): JSX.Element {
  if (whole || text.length <= HEAD + TAIL + 1) {
    return (
      <code class="key">
        <Foreign text={text} />
      </code>
    );
  }
  return (
    <code class="key" title={visible(text, 500)}>
      <Foreign text={`${text.slice(0, HEAD)}…${text.slice(-TAIL)}`} />
      <span class="dim"> ({text.length} characters)</span>
    </code>
  );
}
