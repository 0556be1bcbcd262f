import type { JSX } from 'preact';
import type { StrandAnswer } from '@strandline/admin';
import { holdKey, parkHead, releaseKey, retryHead, skipHead, type Head } from '../actions/keys.ts';
import { visible } from '../text/visible.ts';
import { ChangeButton } from './button.tsx';

/** States in which the head can be tried before its time. */
export const RETRIABLE: readonly string[] = ['backoff', 'halted'];

/** What can be done to a live key. `brief`: what comes first at night. */
export function KeyActions({
  pipeline,
  strand,
  held,
  brief = false,
}: {
  readonly pipeline: string;
  readonly strand: StrandAnswer;
  readonly held: boolean;
  readonly brief?: boolean;
}): JSX.Element {
  const head: Head = { pipeline, key: strand.key, position: strand.head.position };
  const label = visible(strand.key, 60);
  return (
    <span class="tools">
      {RETRIABLE.includes(strand.state) && (
        <ChangeButton kind="main" label={`Retry now: ${label}`} onPress={() => retryHead(head)}>
          Retry now
        </ChangeButton>
      )}
      {brief && held ? (
        <HoldButton pipeline={pipeline} name={strand.key} held />
      ) : (
        <ChangeButton label={`Park ${label}`} onPress={() => parkHead(head)}>
          Park
        </ChangeButton>
      )}
      {!brief && (
        <ChangeButton kind="danger" label={`Skip the first event of ${label}`} onPress={() => skipHead(head)}>
          Skip
        </ChangeButton>
      )}
      {!brief && <HoldButton pipeline={pipeline} name={strand.key} held={held} />}
    </span>
  );
}

/** Works for a key of which nothing is live, too. */
export function HoldButton({
  pipeline,
  name,
  held,
}: {
  readonly pipeline: string;
  readonly name: string;
  readonly held: boolean;
}): JSX.Element {
  const label = visible(name, 60);
  return held ? (
    <ChangeButton kind="main" label={`Release ${label}`} onPress={() => releaseKey({ pipeline, key: name })}>
      Release
    </ChangeButton>
  ) : (
    <ChangeButton label={`Hold ${label}`} onPress={() => holdKey({ pipeline, key: name })}>
      Hold
    </ChangeButton>
  );
}
