export { parseAddress, urlOf, type Address } from './address.js';
export { AdminServer, type AdminOptions } from './admin-server.js';
export type {
  AuditAnswer,
  BookmarkAnswer,
  FindingAnswer,
  KeyAnswer,
  LetterAnswer,
  LetterCountsAnswer,
  OffsetAnswer,
  PayloadAnswer,
  PipelineAnswer,
  PipelineDetailsAnswer,
  ProblemAnswer,
  ReplayAnswer,
  StrandAnswer,
  StrandListAnswer,
} from './api/answers.js';
export { AdminError, type AdminErrorCode } from './errors.js';
export type { PipelineHealth } from './health/verdict.js';
export type { Sample } from './live/history.js';
export type { Page, PageFile } from './page/page.js';
