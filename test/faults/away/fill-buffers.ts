import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { shardOf } from '../../../shared/shard.ts';
import { answerBuffered } from '../../../shared/sql/statements/answer-buffered.ts';
import { insertBuffered, type BufferedCell } from '../../../shared/sql/statements/insert-buffered.ts';
import { Random } from '../../support/random.ts';
import type { Ledger } from '../load/ledger.ts';
import { rowKeyIn } from '../outage/group-shards.ts';
import type { BufferTables } from '../outage/buffer-tables.ts';
import { DATASTORE } from '../../support/store-access.ts';

export interface Filling {
  readonly tables: BufferTables;
  /** Each gets a copy of every write, as while its primary is down. */
  readonly holders: readonly string[];
  /** Those of the primary that is away. */
  readonly shards: ReadonlySet<number>;
  /** Of the datastore. */
  readonly ofDatastore: number;
  readonly rows: number;
  readonly seed: string;
  /** What was written is noted here as answered `buffered`. */
  readonly ledger: Ledger;
}

const BATCH = 200;

/**
 * Puts into the buffer tables what minutes of writes to a primary that is away leave there, with the write path's own
 * statements.
 */
export async function fillBuffers({
  tables,
  holders,
  shards,
  ofDatastore,
  rows,
  seed,
  ledger,
}: Filling): Promise<void> {
  const random = new Random(seed, 'away', 0);
  for (let start = 0; start < rows; start += BATCH) {
    const cells = Array.from({ length: BATCH }, (_, place): BufferedCell => {
      const body: NewCell['body'] = { number: start + place, note: 'a'.repeat(random.integer(0, 120)) };
      const row_key = rowKeyIn(random, shards, ofDatastore);
      return {
        row_key,
        column_name: 'BASE',
        ref_key: 1,
        body,
        encoded: encodeBody(body),
        shard: shardOf(row_key, ofDatastore),
      };
    });
    await Promise.all(
      holders.map(async (holder) => {
        await tables.client(holder).change(insertBuffered(DATASTORE, cells));
        await tables.client(holder).change(answerBuffered(DATASTORE, cells));
      }),
    );
    for (const { row_key, column_name, ref_key, body, shard } of cells)
      ledger.note({ row_key, column_name, ref_key, body }, { outcome: 'buffered', shard, copies: holders.length });
  }
}
