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

/** The time for the readers to catch up, and then for the buffers to empty. */
const EMPTY_PATIENCE_MS = 600_000;

export type Aftermath = Awaited<ReturnType<typeof inspect>>;

/** Waits for the buffers, reads every acknowledged cell through the store, and then inspects the tables. */
export async function inspect({ datastore, groups, written, signal }: Scene) {
  const { acked, outcomes, wrong, wrongExamples } = written;
  const { rows, parked, conflicts, in_doubt, seconds } = await untilBuffersEmpty(datastore, EMPTY_PATIENCE_MS, signal);
  const unreadable = await countUnreadable(datastore, acked);
  const logs = await storedLogs(groups);
  const { lost, moved, movedExamples, doubled } = compareKept(acked, logs);
  const faults: Readonly<Record<string, number>> = {
    moved,
    doubled,
    'ids missing': holesIn(logs),
    'parts of transactions': sumOf(logs.map(({ parts }) => parts)),
    'wrong answers': wrong,
    'left in the buffer': rows + parked + conflicts + in_doubt,
  };
  return {
    acked: acked.length,
    // Moved cells cannot be read as they were acknowledged either, and are counted separately.
    lost: Math.max(lost, unreadable - moved),
    faults,
    outcomes,
    wrongExamples: [...wrongExamples, ...movedExamples],
    drainSeconds: seconds,
  };
}

export function lossCheck(what: string, real: Aftermath, control: Aftermath, leastCells: number): Check {
  const result = (of: Aftermath): string => `${grouped(of.lost)} of ${grouped(of.acked)}, ${otherFaults(of)}`;
  const holds = (of: Aftermath): boolean => of.lost + otherFaults(of) === 0 && of.acked >= leastCells;
  return check(
    { what, bar: `0 of at least ${grouped(leastCells)}, 0`, result, holds, fails: ({ lost }) => lost > 0 },
    real,
    control,
  );
}

export function aftermathNotes(aftermath: Aftermath): readonly string[] {
  return [outcomesLine(aftermath.outcomes), faultsLine(aftermath), ...aftermath.wrongExamples];
}

/** Returns the lost and otherwise wrong cells, of the acknowledged ones. */
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

/** Waits until every group's buffer table is empty; gives up after some time, and returns what is left. */
export async function untilBuffersEmpty(
  operations: Pick<BufferOperations, 'getBuffer'>,
  patienceMs: number,
  signal: AbortSignal,
) {
  const start = performance.now();
  for (;;) {
    const rest = { rows: 0, parked: 0, conflicts: 0, in_doubt: 0, seconds: (performance.now() - start) / 1000 };
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
      rest.in_doubt += group.in_doubt;
    }
    if (answered && rest.rows === 0) return rest;
    if (performance.now() - start > patienceMs) {
      if (answered) return rest;
      throw new Error('the buffer tables did not answer');
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}
