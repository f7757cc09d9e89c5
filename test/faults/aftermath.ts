import type { BufferOperations, Datastore } from '../../shared/contract/datastore.ts';
import { untilBuffersEmpty } from './buffers.ts';
import type { Check, Control } from './fault-run.ts';
import type { Outcomes, Written } from './load/ledger.ts';
import { countUnreadable } from './read-back.ts';
import type { GroupAccess } from '../support/store-access.ts';
import { compareKept, holesIn, storedLogs } from './stored-logs.ts';

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

/** Waits for the buffers, reads every acknowledged cell back through the store, and then looks at the tables themselves. */
export async function inspect({ datastore, groups, written, signal }: Scene): Promise<Aftermath> {
  const { acked, outcomes, wrong, wrongExamples } = written;
  const { rows, parked, conflicts, undecided, seconds } = await untilBuffersEmpty(datastore, EMPTY_PATIENCE_MS, signal);
  const unreadable = await countUnreadable(datastore, acked);
  const logs = await storedLogs(groups);
  const { lost, moved, doubled } = compareKept(acked, logs);
  return {
    acked: acked.length,
    // What moved cannot be read as it was acknowledged either, and is counted by itself.
    lost: Math.max(lost, unreadable - moved),
    faults: { moved, doubled, 'ids missing': holesIn(logs), 'wrong answers': wrong, 'left in the buffer': rows + parked + conflicts + undecided },
    outcomes,
    wrongExamples,
    drainSeconds: seconds,
  };
}

/** The check that nothing is lost, nor anything else wrong. */
export function lossCheck(what: string, real: Aftermath, control: Aftermath, leastCells: number): Check {
  return {
    what,
    figure: figureOf(real),
    bar: `0 of at least ${leastCells.toLocaleString('en-US')}, 0`,
    passed: real.lost + otherFaults(real) === 0 && real.acked >= leastCells,
    control: controlOf(control),
  };
}

/** "faults: 0 moved, 0 doubled, …" */
export function faultsLine({ faults }: Aftermath): string {
  return `other faults: ${Object.entries(faults).map(([what, count]) => `${count.toLocaleString('en-US')} ${what}`).join(', ')}`;
}

function controlOf(control: Aftermath): Control {
  return { figure: figureOf(control), failed: control.lost > 0 };
}

function figureOf(aftermath: Aftermath): string {
  const { acked, lost } = aftermath;
  return `${lost.toLocaleString('en-US')} of ${acked.toLocaleString('en-US')}, ${otherFaults(aftermath)}`;
}

function otherFaults({ faults }: Aftermath): number {
  return Object.values(faults).reduce((sum, count) => sum + count, 0);
}
