import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { token, tokenAsked } from '../browser/session.ts';
import { Field } from './field.tsx';

/** Asks for the token, where the process wants one. */
export function TokenForm(): JSX.Element {
  const [text, setText] = useState('');
  return (
    <main class="token">
      <h1>Strandline</h1>
      <p>
        This process asks for its token: it is what STRANDLINE_ADMIN_TOKEN holds. It is kept until this tab is
        closed.
      </p>
      {token.value !== '' && <p class="why">The one that was given is not it.</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          token.value = text.trim();
          tokenAsked.value = false;
        }}
      >
        <Field label="Token" type="password" value={text} onInput={setText} required />
        <div class="tools">
          <button type="submit" class="button main">
            Go on
          </button>
        </div>
      </form>
    </main>
  );
}
