export {
  PIPELINE_NAME,
  pipelineNameOf,
  type Choice,
  type Mapping,
  type OffsetsChoice,
  type Start,
} from './choice.js';
export { configText, type ConfigRequest } from './config-text.js';
export { tableNameOf, type Database } from './database.js';
export { shellText, valueIn, withIgnored, withVariables, type Variable } from './env-text.js';
export { SetupError, setupError, type SetupErrorCode } from './errors.js';
export type { ColumnFacts, Flavour, Survey, TableFacts, TableName } from './facts.js';
export {
  isKeySure,
  isPayloadSure,
  outboxesAmong,
  readAsOutbox,
  surest,
  type Candidate,
} from './guess/guess.js';
export type { KeyChoice, KeyGuess } from './guess/key.js';
export { kindOf } from './guess/words.js';
export { openDatabase } from './open-database.js';
export { OUTBOX_MAPPING, outboxTableIn } from './outbox-table.js';
export { newPassword, newWebhookSecret } from './password.js';
export { placeOf, shownUrl, urlOf, type Place } from './place.js';
export { hasPassword, PASSWORD, type Step } from './steps.js';
