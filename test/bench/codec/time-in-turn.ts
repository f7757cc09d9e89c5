import { setImmediate as otherWork } from 'node:timers/promises';
import { median } from '../side-by-side.ts';

/** Microseconds of processor time for one unit, over the rounds. */
export interface Taken {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Turns {
  /** How many units a pass does. */
  readonly units: number;
  readonly signal: AbortSignal;
}

const ROUNDS = 9;
const ROUND_MS = 8;
const WARM_MS = 40;

/**
 * Does each pass again and again, in turn, so that what else the machine does falls on all alike; what happens before
 * the first round warms up and does not count. Processor time is measured, this process's own with its garbage
 * collector's: a clock on the wall would count whoever else is at work.
 */
export async function timeInTurn(passes: readonly (() => void)[], { units, signal }: Turns): Promise<readonly Taken[]> {
  const timed = passes.map((pass) => ({ pass, times: timesOf(pass), micros: [] as number[] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each time from another one on: garbage is collected after so many bytes, which is after the same pass of every
    // round.
    const from = Math.floor((round * timed.length) / ROUNDS);
    for (const { pass, times, micros } of [...timed.slice(from), ...timed.slice(0, from)]) {
      const start = processorMicros();
      for (let time = 0; time < times; time += 1) pass();
      micros.push((processorMicros() - start) / (times * units));
    }
    await otherWork();
    signal.throwIfAborted();
  }
  return timed.map(({ micros }) => ({ median: median(micros), least: Math.min(...micros), most: Math.max(...micros) }));
}

/** How often it has to be done in a round; warms it up. */
function timesOf(pass: () => void): number {
  const start = processorMicros();
  let times = 0;
  while (processorMicros() - start < WARM_MS * 1000) {
    pass();
    times += 1;
  }
  return Math.max(1, Math.round((times * ROUND_MS) / WARM_MS));
}

function processorMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
