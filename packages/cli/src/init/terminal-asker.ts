import type { Writable } from 'node:stream';
import { cliError } from '../errors.js';
import type { Streams } from '../streams.js';
import { printable } from '../text.js';
import type { Asker } from './asker.js';

/** Asks on a terminal; null where there is none. The library is loaded with the first question. */
export function terminalAsker({ stdin, stdout, stderr }: Streams): Asker | null {
  if (stdin.isTTY !== true || stdout.isTTY !== true) return null;
  // The answer of the command is on stdout, for a file that it may be sent to.
  const common = { input: stdin, output: stderr as unknown as Writable };
  return {
    async text(question, { initial, secret, check } = {}) {
      const { isCancel, password, text } = await import('@clack/prompts');
      const validate = (value: string | undefined): string | undefined => check?.(value ?? '') ?? undefined;
      const answer =
        secret === true
          ? await password({ ...common, message: question, validate })
          : await text({
              ...common,
              message: question,
              validate,
              ...(initial === undefined ? {} : { initialValue: initial }),
            });
      if (isCancel(answer)) throw cancelled();
      return answer;
    },
    async choose(question, answers) {
      const { isCancel, select } = await import('@clack/prompts');
      const place = await select<number>({
        ...common,
        message: question,
        options: answers.map(({ label, hint }, value) => ({
          value,
          label: printable(label),
          ...(hint === undefined ? {} : { hint: printable(hint) }),
        })),
      });
      const answer = isCancel(place) ? undefined : answers[place];
      if (answer === undefined) throw cancelled();
      return answer.value;
    },
    async confirm(question) {
      const { confirm, isCancel } = await import('@clack/prompts');
      const answer = await confirm({ ...common, message: question, initialValue: false });
      if (isCancel(answer)) throw cancelled();
      return answer;
    },
  };
}

function cancelled(): Error {
  return cliError('CLI_CANCELLED', 'Nothing was changed: the question was not answered.', 'Call it again.');
}
