import { setTimeout as sleep } from 'node:timers/promises';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { Random } from '../../support/random.ts';

export const KEPT = 10;
export const VERSIONED = 'VERSIONED';

export interface Watched {
  reads: number;
  beyond: number;
  most: number;
}

export interface WrittenRow {
  readonly row_key: string;
  /** The highest acknowledged version, with all below it; 0: none. */
  acked: number;
}

export async function watchReads(
  datastore: Pick<Datastore, 'versions' | 'get' | 'batchGet'>,
  rows: readonly WrittenRow[],
  random: Random,
  signal: AbortSignal,
): Promise<Watched> {
  const seen: Watched = { reads: 0, beyond: 0, most: 0 };
  const tell = (beyond: boolean): void => {
    seen.reads += 1;
    if (beyond) seen.beyond += 1;
  };
  while (!signal.aborted) {
    const row = rows[random.integer(0, rows.length - 1)];
    if (!row || row.acked <= KEPT) {
      await sleep(5);
      continue;
    }
    const { row_key, acked } = row;
    const { cells } = await datastore.versions({ row_key, column_name: VERSIONED }, { limit: 1000 });
    const bodies = cells.filter(({ body }) => body !== null).length;
    seen.most = Math.max(seen.most, bodies);
    tell(bodies > KEPT);
    // Below the kept versions as of this acknowledgement: later ones only hide more.
    const ref_key = random.integer(1, acked - KEPT);
    tell((await datastore.get({ row_key, column_name: VERSIONED, ref_key })).cell?.body !== null);
    const [item] = await datastore.batchGet([{ row_key, column_name: VERSIONED, ref_key }]);
    tell(!item || !('body' in item) || item.body !== null);
  }
  return seen;
}
