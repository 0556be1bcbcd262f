import type { JSX } from 'preact';
import type { FindingAnswer, OffsetAnswer, PipelineAnswer, PipelineDetailsAnswer } from '@strandline/admin';
import { releaseKey } from '../actions/keys.ts';
import { get, ofPipeline } from '../api/client.ts';
import { Badge, StateBadge } from '../parts/badge.tsx';
import { Button, ChangeButton } from '../parts/button.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Facts, Nothing, Panel } from '../parts/panel.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Foreign, KeyText } from '../parts/text.tsx';
import { href } from '../place/route.ts';
import { now } from '../state/live.ts';
import { usePolled } from '../state/polled.ts';
import { amount, bytes, count } from '../text/numbers.ts';
import { ago, clock } from '../text/times.ts';
import { visible } from '../text/visible.ts';

/** Milliseconds between two looks of the doctor: it asks the servers dozens of questions. */
const DOCTOR_EVERY = 60_000;

/** Source, log, offset and processes, with what is wrong and how to mend it. */
export function HealthView({ pipeline }: { readonly pipeline: PipelineAnswer }): JSX.Element {
  const { name, health } = pipeline;
  const details = usePolled(
    `details ${name}`,
    (signal) => get<PipelineDetailsAnswer>(ofPipeline(name), {}, signal),
    3_000,
  );
  const offset = usePolled(
    `offset ${name}`,
    (signal) => get<{ offset: OffsetAnswer | null }>(ofPipeline(name, '/offset'), {}, signal),
    5_000,
  );
  return (
    <>
      <PageTitle title="Health and owners" />
      <Panel title="Health">
        <p>
          <Badge tone={health.ready ? 'good' : 'bad'}>{health.ready ? 'ready' : 'not ready'}</Badge>{' '}
          <Badge tone={health.advancing ? 'good' : 'bad'}>
            {health.advancing ? 'advancing' : 'not advancing'}
          </Badge>
        </p>
        {health.reasons.map((reason) => (
          <p key={reason} class="why">
            {reason}
          </p>
        ))}
      </Panel>
      <Doctor pipeline={name} />
      <Panel title="Offset and log">
        <ProblemBox problem={offset.problem} />
        {offset.answer !== null && <OffsetFacts offset={offset.answer.offset} />}
      </Panel>
      <Panel title="Processes">
        <ProblemBox problem={details.problem} />
        {details.answer !== null && <Instances answer={details.answer} />}
      </Panel>
      {details.answer !== null && <Orders answer={details.answer} />}
    </>
  );
}

function Doctor({ pipeline }: { readonly pipeline: string }): JSX.Element {
  const { answer, problem, again } = usePolled(
    `doctor ${pipeline}`,
    (signal) => get<{ findings: readonly FindingAnswer[] }>(ofPipeline(pipeline, '/doctor'), {}, signal),
    DOCTOR_EVERY,
  );
  const findings = answer?.findings ?? [];
  const of = (result: FindingAnswer['result']): readonly FindingAnswer[] =>
    findings.filter((finding) => finding.result === result);
  const passed = of('pass');
  const wrong = [...of('fail'), ...of('warn')];
  return (
    <Panel title="Source, log and servers" tools={<Button onPress={again}>Look again</Button>}>
      <ProblemBox problem={problem} />
      {answer === null && problem === null && <Nothing>The servers are being asked …</Nothing>}
      {answer !== null && wrong.length === 0 && <p>{count(passed.length)} checks, and nothing is wrong.</p>}
      <ul class="findings">
        {wrong.map((finding) => (
          <Finding key={finding.check} finding={finding} />
        ))}
      </ul>
      {passed.length > 0 && (
        <details>
          <summary>{count(passed.length)} checks passed</summary>
          <ul class="findings">
            {passed.map((finding) => (
              <Finding key={finding.check} finding={finding} />
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

function Finding({
  finding: { check, result, found, why, remedy },
}: {
  readonly finding: FindingAnswer;
}): JSX.Element {
  return (
    <li>
      <p>
        <StateBadge state={result} /> <code>{check}</code> <Foreign text={found} />
      </p>
      {result !== 'pass' && (
        <p class="dim">
          <Foreign text={why} />
        </p>
      )}
      {remedy !== null && result !== 'pass' && (
        <pre class="remedy" tabIndex={0} aria-label={`Remedy of ${check}`}>
          <Foreign text={remedy} />
        </pre>
      )}
    </li>
  );
}

function OffsetFacts({ offset }: { readonly offset: OffsetAnswer | null }): JSX.Element {
  if (offset === null) return <Nothing>None was saved yet.</Nothing>;
  const { log } = offset;
  return (
    <Facts
      facts={[
        ['Saved', `${ago(offset.savedAt, now.value)}, revision ${count(offset.revision)}`],
        ['Epoch', count(offset.epoch)],
        ['Watermark', <code>{offset.watermark}</code>],
        ['Settled above it', amount(offset.completed, 'run')],
        ['Log ends at', log === null ? 'it can not be asked' : <code>{log.head}</code>],
        ['Log begins at', log === null ? '–' : <code>{log.earliest ?? '–'}</code>],
        ['Behind', bytes(log?.bytesBehind)],
        [
          'Can be read on',
          log === null || log.reachable === null
            ? '–'
            : log.reachable
              ? 'yes'
              : 'no: a part of the log is gone',
        ],
      ]}
    />
  );
}

function Instances({ answer: { instances } }: { readonly answer: PipelineDetailsAnswer }): JSX.Element {
  if (instances.length === 0) return <Nothing>None has reported.</Nothing>;
  return (
    <div class="table-box">
      <table>
        <caption class="unseen">Processes of this pipeline</caption>
        <thead>
          <tr>
            <th>Process</th>
            <th>State</th>
            <th class="number">Epoch</th>
            <th>Since</th>
            <th>Reported</th>
          </tr>
        </thead>
        <tbody>
          {instances.map(({ id, host, pid, state, epoch, startedAt, reportedAt }) => (
            <tr key={id}>
              <td>
                <Foreign text={host} />, {pid}
              </td>
              <td>
                <StateBadge state={state} />
              </td>
              <td class="number" data-label="Epoch">
                {epoch === null ? '–' : count(epoch)}
              </td>
              <td data-label="Since" title={clock(startedAt)}>
                {ago(startedAt, now.value)}
              </td>
              <td data-label="Reported" title={clock(reportedAt)}>
                {ago(reportedAt, now.value)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Who holds what. */
function Orders({ answer: { name, controls } }: { readonly answer: PipelineDetailsAnswer }): JSX.Element {
  const { paused, held } = controls;
  return (
    <Panel title="Orders of operators">
      {paused === null && held.length === 0 && <Nothing>Nothing is paused or held.</Nothing>}
      {paused !== null && (
        <p>
          <Foreign
            text={`The pipeline is paused by ${paused.by}, ${ago(paused.at, now.value)}${paused.note === '' ? '' : `: ${paused.note}`}`}
          />
        </p>
      )}
      <ul class="held">
        {held.map(({ key, by, at, note }) => (
          <li key={key}>
            <a href={href({ view: 'key', pipeline: name, key })}>
              <KeyText text={key} />
            </a>{' '}
            <Foreign text={`held by ${by}, ${ago(at, now.value)}${note === '' ? '' : `: ${note}`}`} />{' '}
            <ChangeButton
              label={`Release ${visible(key, 60)}`}
              onPress={() => releaseKey({ pipeline: name, key })}
            >
              Release
            </ChangeButton>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
