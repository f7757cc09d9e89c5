import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { Random } from '../../support/random.ts';
import type { Ledger } from '../load/ledger.ts';
import { rowKeyIn } from './group-shards.ts';

export interface Backlog {
  readonly datastore: Pick<Datastore, 'batchPut' | 'shards'>;
  /** Where the cells go: those of the group that is down. */
  readonly shards: ReadonlySet<number>;
  readonly seed: string;
  /** Whatever is confirmed is noted here. */
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
}

const BATCH = 100;
const PAUSE_MS = 50;

/** Writes batches of cells, beside everything else, until enough wait. */
export async function addToBacklog(
  { datastore, shards, seed, ledger, signal }: Backlog,
  isEnough: () => Promise<boolean>,
): Promise<void> {
  const random = new Random(seed, 'backlog', 0);
  while (!(await isEnough())) {
    const cells = Array.from({ length: BATCH }, (_, number): NewCell => ({
      row_key: rowKeyIn(random, shards, datastore.shards),
      column_name: 'BASE',
      ref_key: 1,
      body: { number, note: 'b'.repeat(random.integer(0, 120)) },
    }));
    const results = await datastore.batchPut(cells);
    for (const [place, result] of results.entries()) ledger.note(cells[place] as NewCell, result);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}
