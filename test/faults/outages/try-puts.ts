import type { SqlClient } from '../../../shared/sql/client.ts';
import { Random } from '../../support/random.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { noOutcomes, type Ledger, type Outcomes } from '../load/ledger.ts';
import { baseCell, rowKeyIn } from '../row-keys.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';

export interface Tries {
  readonly access: StoreAccess;
  readonly shards: ReadonlySet<number>;
  readonly puts: number;
  readonly random: Random;
  /** Stands between the store and a group. @default nothing does */
  readonly wrap?: (client: SqlClient) => SqlClient;
}

/** Puts of new cells to some shards, one after the other, of a store that is opened for it: what they were answered. */
export async function tryPuts({ access, shards, puts, random, wrap = (client) => client }: Tries): Promise<Outcomes> {
  await using store = await openStore(access, { wrap });
  const outcomes = noOutcomes();
  for (let tried = 0; tried < puts; tried += 1)
    outcomes[
      (await store.datastore.put(baseCell(rowKeyIn(random, shards, store.datastore.shards), { tried }))).outcome
    ] += 1;
  return outcomes;
}

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
    const cells = Array.from({ length: BATCH }, (_, number) =>
      baseCell(rowKeyIn(random, shards, datastore.shards), { number, note: 'b'.repeat(random.integer(0, 120)) }),
    );
    const results = await datastore.batchPut(cells);
    for (const [position, result] of results.entries()) ledger.note(cells[position] as NewCell, result);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}
