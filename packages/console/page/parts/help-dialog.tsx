import type { JSX } from 'preact';
import { SHORTCUTS } from '../keyboard/shortcuts.ts';
import { by, shortcuts } from '../browser/session.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { LONGEST_BY } from './question-dialog.tsx';

/** What keys do, and who somebody is. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keyboard and name" onClose={onClose}>
      <dl class="shortcuts">
        {SHORTCUTS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={shortcuts.value}
          onChange={(event) => {
            shortcuts.value = event.currentTarget.checked;
          }}
        />{' '}
        Single keys do this
      </label>
      <Field
        label="Your name"
        value={by.value}
        maxLength={LONGEST_BY}
        hint="It is written into the audit log beside what you do."
        onInput={(name) => {
          by.value = name;
        }}
      />
      <div class="tools">
        <Button kind="main" onPress={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
