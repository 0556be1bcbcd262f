export { checkHistory, type Verdict } from './check-history.js';
export { CommitWitness, type CommittedEvent, type CommittedTransaction } from './commit-witness.js';
export { FileHistory } from './history-file.js';
export { History, MemoryHistory, recorded, type HistoryEntry, type Recorder } from './history.js';
export { commitLsnOf, comparePositions, lsnOf, lsnText } from './lsn.js';
export { testMysqlDatabase, type TestMysqlDatabase } from './mysql-fixture.js';
export { MysqlCommitWitness, witnessed } from './mysql-commit-witness.js';
export {
  createMysqlOutbox,
  insertMysqlRows,
  mysqlOutboxSource,
  type MysqlOutboxSource,
} from './mysql-outbox.js';
export { MysqlSessions, type MysqlSession, type MysqlSessionKind } from './mysql-sessions.js';
export { MysqlOutboxWriters } from './mysql-writers.js';
export { OutboxWriters, type WriterOptions } from './outbox-writers.js';
export {
  createOutbox,
  insertRows,
  outboxSource,
  rowsInTurn,
  rowsOf,
  type OutboxRow,
  type OutboxSource,
} from './outbox.js';
export type { OffsetsChoice, ProcessReport } from './pipeline-process-protocol.js';
export { PipelineProcess, PipelineRuns, type ProcessExit } from './pipeline-process.js';
export { testDatabase, type TestDatabase } from './postgres-fixture.js';
export { testRedis, type TestRedis } from './redis-fixture.js';
export {
  ScriptedFailure,
  ScriptedHandler,
  type HandlerBehaviour,
  type TurnView,
} from './scripted-handler.js';
export { ServersOnDemand, type MysqlServerKind } from './servers-on-demand.js';
export { startTestServers, type TestServers } from './servers.js';
export { TcpProxy, type SessionKind } from './tcp-proxy.js';
export { TestLog } from './test-log.js';
export { uniqueName } from './unique-name.js';
export { uniqueServerId } from './unique-server-id.js';
export { waitUntil, watchFor, type WaitOptions } from './wait-until.js';
