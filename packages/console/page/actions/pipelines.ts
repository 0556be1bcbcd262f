import { ofPipeline, post } from '../api/client.ts';
import { askFirst } from '../state/question.ts';
import { act, signature } from './act.ts';

export async function pausePipeline(pipeline: string): Promise<void> {
  const note = await askFirst({
    title: `Pause ${pipeline}`,
    text: [
      'No handler starts any more, of no key, until somebody resumes it; those that run may end.',
      'The log is read only as far as the window takes, and the server keeps what was not read.',
      'The order stays when this process ends, and holds for whoever takes over.',
    ],
    ...{ confirm: 'Pause', danger: true, note: true },
  });
  if (note === null) return;
  await act(
    `Pause ${pipeline}`,
    () => post(ofPipeline(pipeline, '/pause'), { ...signature(), note }),
    () => `${pipeline} is paused.`,
    () => () => void resumePipeline(pipeline),
  );
}

export async function resumePipeline(pipeline: string): Promise<void> {
  await act(
    `Resume ${pipeline}`,
    () => post(ofPipeline(pipeline, '/resume'), signature()),
    () => `${pipeline} goes on.`,
  );
}
