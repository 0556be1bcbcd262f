import { clock } from './clock.js';
import { databaseRestart } from './database-restart.js';
import { deployment } from './deployment.js';
import { diskFull } from './disk-full.js';
import type { Fault } from './fault.js';
import { kill } from './kill.js';
import { logRotation } from './log-rotation.js';
import { networkCut, networkDelay, networkHalfOpen } from './network.js';
import { redisEmptied } from './redis-emptied.js';
import { redisRestart } from './redis-restart.js';
import { standstill } from './standstill.js';

export const FAULTS: readonly Fault[] = [
  kill,
  deployment,
  standstill,
  databaseRestart,
  redisRestart,
  redisEmptied,
  networkCut,
  networkDelay,
  networkHalfOpen,
  clock,
  diskFull,
  logRotation,
];
