export type { Committed } from './checker/commit-order.js';
export { CommittedLog, type CommittedRow } from './checker/committed-log.js';
export { judge } from './checker/judge.js';
export {
  faultless,
  idsOf,
  onceEach,
  type Finding,
  type JudgeOptions,
  type Judgement,
} from './checker/judgement.js';
export { MysqlCommittedLog } from './checker/mysql-committed-log.js';
export { PostgresCommittedLog } from './checker/postgres-committed-log.js';
export { axeViolations, type AxeViolation } from './axe-violations.js';
export { testBrowser, type TestBrowser } from './browser.js';
export { CommitWitness, type CommittedEvent, type CommittedTransaction } from './commit-witness.js';
export { EffectCounters } from './effect-counters.js';
export { FileHistory, historyWriter } from './history-file.js';
export { History, MemoryHistory, recorded, type HistoryEntry, type Recorder } from './history.js';
export { commitLsnOf, comparePositions, lsnOf, lsnText } from './lsn.js';
export { MemoryDeadLetters } from './memory-dead-letters.js';
export { testMysqlDatabase, type TestMysqlDatabase } from './mysql-fixture.js';
export { MysqlCommitWitness, mysqlPlaceOf } from './mysql-commit-witness.js';
export { MysqlOutboxSession } from './mysql-outbox-session.js';
export {
  createMysqlOutbox,
  insertMysqlRows,
  mysqlOutboxSource,
  type MysqlOutboxSource,
} from './mysql-outbox.js';
export { MysqlTestOutbox } from './mysql-test-outbox.js';
export { NpmPackages, type NpmPackagesOptions } from './npm-packages.js';
export { offsetsWith } from './offsets-with.js';
export { rowsInTurn, rowsOf, type OutboxRow } from './outbox-row.js';
export type { OutboxSession } from './outbox-session.js';
export { OutboxWriters, type WriterOptions } from './outbox-writers.js';
export { PageFaults } from './page-faults.js';
export { lifeOfTerm, runOfTerm } from './pipeline-process-protocol.js';
export type {
  OffsetsChoice,
  PipelineProcessOptions,
  ProcessReport,
  SourceChoice,
} from './pipeline-process-protocol.js';
export { killInstants, type KillInstant, type KillPoint } from './planted-kill.js';
export { PipelineProcess, PipelineRuns, type ProcessExit } from './pipeline-process.js';
export type { PipelineSessionKind, PipelineSessions } from './pipeline-sessions.js';
export { PlantedClock } from './planted-clock.js';
export { PlantedDisk } from './planted-disk.js';
export { PostgresCommitWitness, type PostgresTransaction } from './postgres-commit-witness.js';
export { PostgresOutboxSession } from './postgres-outbox-session.js';
export { createOutbox, insertRows, outboxSource, type OutboxSource } from './postgres-outbox.js';
export { PostgresTestOutbox } from './postgres-test-outbox.js';
export { testDatabase, type TestDatabase } from './postgres-fixture.js';
export { testRedis, type TestRedis } from './redis-fixture.js';
export { testRedisCluster, type TestRedisCluster } from './redis-cluster-fixture.js';
export { Random } from './random.js';
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
export { databaseKinds, testOutbox, type DatabaseKind } from './open-test-outbox.js';
export { TestOutbox, type LogRelease, type SourceTuning } from './test-outbox.js';
export { TestPage, type TestPageOptions } from './test-page.js';
export { uniqueName } from './unique-name.js';
export { uniqueServerId } from './unique-server-id.js';
export { waitUntil, watchFor, type WaitOptions } from './wait-until.js';
