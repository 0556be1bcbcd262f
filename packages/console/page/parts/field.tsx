import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldOptions {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'text' | 'search' | 'password';
  readonly placeholder?: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  /** Read by the shortcut `/`. */
  readonly isSearch?: boolean;
}

/** A labelled line to write in. The types of JSX ask for a type that is known, since roles depend on it: none is set here. */
export function Field(options: FieldOptions): JSX.Element {
  const {
    label,
    value,
    onInput,
    type = 'text',
    placeholder,
    hint,
    required = false,
    maxLength,
    isSearch = false,
  } = options;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...({ type } as { type: 'text' })}
        value={value}
        placeholder={placeholder}
        required={required}
        maxLength={maxLength}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        data-search={isSearch ? '' : undefined}
        onInput={(event) => {
          onInput(event.currentTarget.value);
        }}
      />
      {hint !== undefined && (
        <small id={`${id}-hint`} class="dim">
          {hint}
        </small>
      )}
    </div>
  );
}

/** A labelled choice of a few. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  readonly onChange: (value: T) => void;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          const chosen = options.find(([name]) => name === event.currentTarget.value);
          if (chosen !== undefined) onChange(chosen[0]);
        }}
      >
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
