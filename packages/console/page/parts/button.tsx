import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { readOnly } from '../state/live.ts';

interface ButtonOptions {
  readonly children: ComponentChildren;
  readonly onPress: () => unknown;
  readonly kind?: 'plain' | 'main' | 'danger';
  /** For who does not see what it stands beside: `Retry now: 42`. What is written on it is in it, for who says that aloud. */
  readonly label?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly title?: string | undefined;
}

/** Does something; not twice while it is being done. */
export function Button({
  children,
  onPress,
  kind = 'plain',
  label,
  disabled = false,
  title,
}: ButtonOptions): JSX.Element {
  const [busy, setBusy] = useState(false);
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-label={label}
      title={title}
      disabled={disabled || busy}
      onClick={() => {
        const doing = onPress();
        if (!(doing instanceof Promise)) return;
        setBusy(true);
        void doing.finally(() => {
          setBusy(false);
        });
      }}
    >
      {children}
    </button>
  );
}

/** One that changes something of the pipeline: not there to press where nothing can be changed. */
export function ChangeButton(options: ButtonOptions): JSX.Element {
  const refused = readOnly.value;
  return (
    <Button
      {...options}
      disabled={refused || options.disabled === true}
      title={refused ? 'This process was started with --admin-read-only.' : options.title}
    />
  );
}
