import type { Datastore } from '../../shared/contract/datastore.ts';
import type { BufferOperations } from '../../shared/api/buffer.ts';
import { check, grouped, sumOf, type Check, type Share } from './fault-run.ts';
import { outcomesLine, type Written } from './load/ledger.ts';
import { compareKept, countUnreadable, holesIn, storedLogs } from './stored-cells.ts';
import type { GroupAccess } from '../support/store-access.ts';
import { setTimeout as sleep } from 'node:timers/promises';

interface Scene {
  readonly datastore: Pick<Datastore, 'batchGet'> & Pick<BufferOperations, 'getBuffer'>;
  readonly groups: readonly GroupAccess[];
  readonly written: Written;
  readonly signal: AbortSignal;
}

/** For the buffers to empty, and for readers to catch up before that. */
const EMPTY_PATIENCE_MS = 600_000;

export type Aftermath = Awaited<ReturnType<typeof inspect>>;

/** Waits for the buffers, reads every acknowledged cell through the store, and then looks at the tables. */
export async function inspect({ datastore, groups, written, signal }: Scene) {
  const { acked, outcomes, wrong, wrongExamples } = written;
  const { rows, parked, conflicts, undecided, seconds } = await untilBuffersEmpty(datastore, EMPTY_PATIENCE_MS, signal);
  const unreadable = await countUnreadable(datastore, acked);
  const logs = await storedLogs(groups);
  const { lost, moved, movedExamples, doubled } = compareKept(acked, logs);
  const faults: Readonly<Record<string, number>> = {
    moved,
    doubled,
    'ids missing': holesIn(logs),
    'wrong answers': wrong,
    'left in the buffer': rows + parked + conflicts + undecided,
  };
  return {
    acked: acked.length,
    // What moved cannot be read as it was acknowledged either, and is counted by itself.
    lost: Math.max(lost, unreadable - moved),
    faults,
    outcomes,
    wrongExamples: [...wrongExamples, ...movedExamples],
    drainSeconds: seconds,
  };
}

export function lossCheck(what: string, real: Aftermath, control: Aftermath, leastCells: number): Check {
  const figure = (of: Aftermath): string => `${grouped(of.lost)} of ${grouped(of.acked)}, ${otherFaults(of)}`;
  const holds = (of: Aftermath): boolean => of.lost + otherFaults(of) === 0 && of.acked >= leastCells;
  return check(
    { what, bar: `0 of at least ${grouped(leastCells)}, 0`, figure, holds, fails: ({ lost }) => lost > 0 },
    real,
    control,
  );
}

export function aftermathNotes(aftermath: Aftermath): readonly string[] {
  return [outcomesLine(aftermath.outcomes), faultsLine(aftermath), ...aftermath.wrongExamples];
}

/** Of the acknowledged cells, those that are lost, and what else is wrong. */
export function wrongOf(aftermath: Aftermath): Share {
  return { wrong: aftermath.lost + otherFaults(aftermath), of: aftermath.acked };
}

export function faultsLine({ faults }: Aftermath): string {
  return `other faults: ${Object.entries(faults)
    .map(([what, count]) => `${grouped(count)} ${what}`)
    .join(', ')}`;
}

export function otherFaults({ faults }: Aftermath): number {
  return sumOf(Object.values(faults));
}

const POLL_MS = 250;

/** Waits until nothing waits in any group's buffer table; gives up after some time, and says what is left. */
export async function untilBuffersEmpty(
  operations: Pick<BufferOperations, 'getBuffer'>,
  patienceMs: number,
  signal: AbortSignal,
) {
  const start = performance.now();
  for (;;) {
    const rest = { rows: 0, parked: 0, conflicts: 0, undecided: 0, seconds: (performance.now() - start) / 1000 };
    let answered = true;
    const { groups } = await operations.getBuffer().catch(() => ({ groups: [] }));
    for (const group of groups) {
      if ('error' in group) {
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
