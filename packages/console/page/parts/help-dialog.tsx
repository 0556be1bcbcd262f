import type { JSX } from 'preact';
import { SHORTCUTS } from '../keyboard/shortcuts.ts';
import { shortcuts } from '../browser/session.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { NameField } from './name-field.tsx';

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
      <NameField />
      <div class="tools">
        <Button kind="main" onPress={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
