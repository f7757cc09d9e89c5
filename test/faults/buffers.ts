import { setTimeout as sleep } from 'node:timers/promises';
import type { BufferOperations } from '../../shared/contract/datastore.ts';

/** What is left in all buffer tables. */
export interface BufferRest {
  readonly rows: number;
  readonly parked: number;
  readonly conflicts: number;
  readonly undecided: number;
  /** How long it took until they were empty, or given up, in seconds. */
  readonly seconds: number;
}

const POLL_MS = 250;

/** Waits until nothing waits in any group's buffer table; gives up after some time, and says what is left. */
export async function untilBuffersEmpty(
  operations: Pick<BufferOperations, 'buffer'>,
  patienceMs: number,
  signal: AbortSignal,
): Promise<BufferRest> {
  const start = performance.now();
  for (;;) {
    const rest = { rows: 0, parked: 0, conflicts: 0, undecided: 0, seconds: (performance.now() - start) / 1000 };
    let answered = true;
    for (const group of await operations.buffer().catch(() => [])) {
      if (group.error) {
        answered = false;
        continue;
      }
      rest.rows += group.rows;
      rest.parked += group.parked;
      rest.conflicts += group.conflicts;
      rest.undecided += group.undecided;
    }
    if (answered && rest.rows === 0) return rest;
    if (performance.now() - start > patienceMs) {
      if (answered) return rest;
      throw new Error('the buffer tables did not answer');
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}
