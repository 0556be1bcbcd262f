import type { JSX } from 'preact';
import type { PipelineDetailsAnswer } from '@strandline/admin';
import { get, ofPipeline } from '../api/client.ts';
import { Foreign } from '../parts/text.tsx';
import { usePolled } from '../state/polled.ts';

/** Which process has the pipeline, where this one does not: live keys are seen there. */
export function OwnerLine({ pipeline }: { readonly pipeline: string }): JSX.Element | null {
  const { answer } = usePolled(`details ${pipeline}`, (signal) =>
    get<PipelineDetailsAnswer>(ofPipeline(pipeline), {}, signal),
  );
  if (answer === null) return null;
  const owner = answer.instances.find(({ state }) => state === 'running');
  return (
    <p class="notice-line">
      {owner === undefined ? (
        'No process has reported that it has the pipeline.'
      ) : (
        <Foreign
          text={`The process on ${owner.host}, pid ${String(owner.pid)}, has it: look at live keys in its console.`}
        />
      )}
    </p>
  );
}
