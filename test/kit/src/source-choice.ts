import { mysql, postgres, type Source } from 'strandline';
import type { SourceChoice } from './pipeline-process-protocol.js';

export function sourceOf(choice: SourceChoice): Source {
  return 'mysql' in choice ? mysql(choice.mysql) : postgres(choice.postgres);
}
