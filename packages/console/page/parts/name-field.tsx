import type { JSX } from 'preact';
import { by } from '../browser/session.ts';
import { Field } from './field.tsx';

/** Characters of a name, as the API takes them. */
const LONGEST = 100;

/** Who somebody is. */
export function NameField(): JSX.Element {
  return (
    <Field
      label="Your name"
      value={by.value}
      maxLength={LONGEST}
      hint="It is written into the audit log beside what you do."
      onInput={(name) => {
        by.value = name;
      }}
    />
  );
}
