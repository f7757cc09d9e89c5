import type { BufferOperations, Datastore } from '../../shared/contract/datastore.ts';
import { check, grouped, sumOf, type Check, type Share } from './fault-run.ts';
import { outcomesLine, type Outcomes, type Written } from './load/ledger.ts';
import { compareKept, countUnreadable, holesIn, storedLogs } from './stored-cells.ts';
import type { GroupAccess } from '../support/store-access.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Everything that was ever acknowledged, held against what is there once the fault is over. */
export interface Aftermath {
  readonly acked: number;
  /** Acknowledged cells that no client can read as they were written. */
  readonly lost: number;
  /** What else must not be, by its name. */
  readonly faults: Readonly<Record<string, number>>;
  readonly outcomes: Outcomes;
  readonly wrongExamples: readonly string[];
  /** How long the buffers took to empty. */
  readonly drainSeconds: number;
}

export interface Scene {
  readonly datastore: Pick<Datastore, 'batchGet'> & Pick<BufferOperations, 'buffer'>;
  readonly groups: readonly GroupAccess[];
  readonly written: Written;
  readonly signal: AbortSignal;
}

/** For the buffers to empty, and for readers to catch up before that. */
const EMPTY_PATIENCE_MS = 120_000;

/**
 * Waits for the buffers, reads every acknowledged cell back through the store, and then looks at the tables themselves.
 */
export async function inspect({ datastore, groups, written, signal }: Scene): Promise<Aftermath> {
  const { acked, outcomes, wrong, wrongExamples } = written;
  const { rows, parked, conflicts, undecided, seconds } = await untilBuffersEmpty(datastore, EMPTY_PATIENCE_MS, signal);
  const unreadable = await countUnreadable(datastore, acked);
  const logs = await storedLogs(groups);
  const { lost, moved, movedExamples, doubled } = compareKept(acked, logs);
  return {
    acked: acked.length,
    // What moved cannot be read as it was acknowledged either, and is counted by itself.
    lost: Math.max(lost, unreadable - moved),
    faults: {
      moved,
      doubled,
      'ids missing': holesIn(logs),
      'wrong answers': wrong,
      'left in the buffer': rows + parked + conflicts + undecided,
    },
    outcomes,
    wrongExamples: [...wrongExamples, ...movedExamples],
    drainSeconds: seconds,
  };
}

/** The check that nothing is lost, nor anything else wrong. */
export function lossCheck(what: string, real: Aftermath, control: Aftermath, leastCells: number): Check {
  const figure = (of: Aftermath): string => `${grouped(of.lost)} of ${grouped(of.acked)}, ${otherFaults(of)}`;
  const holds = (of: Aftermath): boolean => of.lost + otherFaults(of) === 0 && of.acked >= leastCells;
  return check(
    { what, bar: `0 of at least ${grouped(leastCells)}, 0`, figure, holds, fails: ({ lost }) => lost > 0 },
    real,
    control,
  );
}

/** What was answered, what was wrong beside losses, and how. */
export function aftermathNotes(aftermath: Aftermath, whose = ''): readonly string[] {
  return [outcomesLine(aftermath.outcomes), faultsLine(aftermath), ...aftermath.wrongExamples].map(
    (line) => whose + line,
  );
}

/** Of the acknowledged cells, those that are lost, and what else is wrong. */
export function wrongOf(aftermath: Aftermath): Share {
  return { wrong: aftermath.lost + otherFaults(aftermath), of: aftermath.acked };
}

/** "other faults: 0 moved, 0 doubled, …" */
export function faultsLine({ faults }: Aftermath): string {
  return `other faults: ${Object.entries(faults)
    .map(([what, count]) => `${grouped(count)} ${what}`)
    .join(', ')}`;
}

export function otherFaults({ faults }: Aftermath): number {
  return sumOf(Object.values(faults));
}

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
