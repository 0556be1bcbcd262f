import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { question } from '../state/question.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { NameField } from './name-field.tsx';
import { Foreign } from './text.tsx';

/** Characters of a note, as the API takes them. */
const LONGEST_NOTE = 500;

/** What is asked before something is done. */
export function QuestionDialog(): JSX.Element | null {
  const asked = question.value;
  return asked === null ? null : <Asked key={asked.title} />;
}

function Asked(): JSX.Element | null {
  const [note, setNote] = useState('');
  const asked = question.value;
  if (asked === null) return null;
  return (
    <Dialog
      title={asked.title}
      onClose={() => {
        asked.answered(null);
      }}
    >
      {asked.text.map((sentence) => (
        <p key={sentence}>
          <Foreign text={sentence} />
        </p>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          asked.answered(note.trim());
        }}
      >
        {asked.note && (
          <Field label="Why (others will read it)" value={note} onInput={setNote} maxLength={LONGEST_NOTE} />
        )}
        <NameField />
        <div class="tools">
          <button type="submit" class={`button ${asked.danger ? 'danger' : 'main'}`}>
            {asked.confirm}
          </button>
          <Button
            onPress={() => {
              asked.answered(null);
            }}
          >
            Leave it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
