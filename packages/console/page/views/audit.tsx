import type { JSX } from 'preact';
import type { AuditAnswer, PipelineAnswer } from '@strandline/admin';
import { get } from '../api/client.ts';
import { Badge } from '../parts/badge.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Nothing } from '../parts/panel.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Foreign } from '../parts/text.tsx';
import { usePolled } from '../state/polled.ts';
import { clock } from '../text/times.ts';
import { visible } from '../text/visible.ts';

/** What was changed through this process. The process' log has it for longer. */
export function AuditView({ pipeline }: { readonly pipeline: PipelineAnswer }): JSX.Element {
  const { answer, problem } = usePolled('audit', (signal) =>
    get<{ entries: readonly AuditAnswer[] }>('audit', { limit: 500 }, signal),
  );
  const entries = (answer?.entries ?? []).filter((entry) => entry.pipeline === pipeline.name);
  return (
    <>
      <PageTitle title="Audit log" />
      <ProblemBox problem={problem} />
      {answer !== null && entries.length === 0 && (
        <Nothing>Nothing was changed through this process since it began.</Nothing>
      )}
      {entries.length > 0 && (
        <div class="table-box">
          <table>
            <caption class="unseen">What was changed, newest first</caption>
            <thead>
              <tr>
                <th>When</th>
                <th>Who</th>
                <th>What</th>
                <th class="wide">About</th>
                <th>Outcome</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry, at) => (
                <tr key={`${entry.at} ${String(at)}`}>
                  <td>{clock(entry.at)}</td>
                  <td>
                    <Foreign text={entry.by} /> <span class="dim">{entry.from}</span>
                  </td>
                  <td>
                    <code>{entry.action}</code>
                  </td>
                  <td class="wide">
                    <Foreign text={visible(aboutText(entry.about), 300)} />
                  </td>
                  <td>
                    <Badge tone={entry.outcome === 'done' ? 'good' : 'bad'}>{entry.outcome}</Badge>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function aboutText(about: AuditAnswer['about']): string {
  return Object.entries(about)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
