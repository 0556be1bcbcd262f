import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { KeyAnswer, PayloadAnswer } from '@strandline/admin';
import { get, ofPipeline } from '../api/client.ts';
import { StateBadge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Nothing, Panel } from '../parts/panel.tsx';
import { Payload } from '../parts/payload.tsx';
import { Foreign } from '../parts/text.tsx';
import { now } from '../state/live.ts';
import { count } from '../text/numbers.ts';
import { ago, clock } from '../text/times.ts';
import { visible } from '../text/visible.ts';

/** Events that are listed before somebody asks for more. */
const FIRST = 5;

/** The live events of a key, in their order, with their payloads on demand. */
export function WaitingEvents({
  pipeline,
  answer,
}: {
  readonly pipeline: string;
  readonly answer: KeyAnswer;
}): JSX.Element {
  const [all, showAll] = useState(false);
  const { key, strand, waiting } = answer;
  const depth = strand?.depth ?? 0;
  const shown = all ? waiting : waiting.slice(0, FIRST);
  return (
    <Panel title={`Events that wait here (${count(depth)})`}>
      {waiting.length === 0 && <Nothing>None.</Nothing>}
      {waiting.length > 0 && (
        <div class="table-box">
          <table>
            <caption class="unseen">Events that wait, in their order</caption>
            <thead>
              <tr>
                <th>Id</th>
                <th>Type</th>
                <th>Committed</th>
                <th class="wide">Position</th>
                <th class="wide">Payload</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ id, type, position, committedAt, inFlight }) => (
                <tr key={position}>
                  <td data-label="Id">
                    <Foreign text={visible(id, 60)} /> {inFlight && <StateBadge state="running" />}
                  </td>
                  <td data-label="Type">{type === null ? '–' : <Foreign text={type} />}</td>
                  <td data-label="Committed" title={clock(committedAt)}>
                    {ago(committedAt, now.value)}
                  </td>
                  <td data-label="Position" class="wide position">
                    <code>{position}</code>
                  </td>
                  <td class="wide">
                    <Payload
                      what={visible(id, 60)}
                      ask={() => get<PayloadAnswer>(ofPipeline(pipeline, '/payload'), { key, position })}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length < waiting.length && (
        <Button
          onPress={() => {
            showAll(true);
          }}
        >
          Show more
        </Button>
      )}
      {all && depth > waiting.length && <p class="dim">The first {count(waiting.length)} are listed.</p>}
    </Panel>
  );
}
