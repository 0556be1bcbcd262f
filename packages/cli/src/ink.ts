import { Ansis } from 'ansis';
import type { Output } from './streams.js';

/** Colours that suit where it is written: none (0) in files, pipes and build logs. */
export function inkFor({ isTTY }: Output): Ansis {
  return isTTY === true ? new Ansis() : new Ansis(0);
}
