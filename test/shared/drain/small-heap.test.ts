import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { Json } from '../../../shared/cell.ts';
import { insertBuffered, type BufferedCell } from '../../../shared/sql/statements/insert-buffered.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change } from '../../support/plain-sql.ts';
import { promote } from './support/promotion.ts';
import type { SmallHeapWork } from './support/small-heap.ts';

const SHARDS = 3;
const ROWS = 100;
/** Of them, as conflicts: a third of a GB. */
const LISTED = 24;
/** A tenth of what all bodies take together, decoded; an answer of 4 MiB may have a few of them. */
const HEAP_MB: Readonly<Record<SmallHeapWork['work'], number>> = { drain: 128, recover: 128, 'list conflicts': 256 };
/** As many as fit into 1 MiB of JSON: some hundred bytes as they are stored, 13 MB in memory. */
const EMPTY_LISTS: Json = Array.from({ length: 349_000 }, () => []);

const opened = await sharedTrips(SHARDS);
const { store, trips, name, primary, others } = opened;
const [holder = ''] = others;

async function bufferMany(): Promise<void> {
  const encoded = encodeBody(EMPTY_LISTS);
  expect(encoded.length).toBeLessThan(2000);
  const cells = rowsOfShard(0, SHARDS, ROWS).map((row_key): BufferedCell => ({
    ...cellOf({ row_key }),
    body: null,
    encoded,
    shard: 0,
  }));
  await store.client(holder).change(insertBuffered(name, cells));
}

/** In a process that dies when it needs more. */
async function inSmallHeap(work: SmallHeapWork['work'], group: string): Promise<string> {
  const { groups, dynamo } = inject('servers');
  const wish: SmallHeapWork = {
    work,
    servers: { groups, dynamo },
    table: store.topologyTable.table,
    group,
    datastore: name,
  };
  const script = fileURLToPath(new URL('support/small-heap.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB[work]}`, script, JSON.stringify(wish)],
    { timeout: 60_000 },
  );
  return stdout.trim();
}

describe('a hundred bodies that take 37 KB, and 1.3 GB when they are decoded', () => {
  it('are drained in a process of a tenth of that, and listed in one of less than they take', async () => {
    await bufferMany();
    expect(await inSmallHeap('drain', holder)).toBe(String(ROWS));
    const shard = (await trips.heads()).find((one) => one.shard === 0);
    expect(shard).toMatchObject({ head: ROWS });
    const conflict = "UPDATE schemaless.buffer SET state = 'conflict' WHERE datastore = ? LIMIT ?";
    await change(store.client(holder), conflict, name, LISTED);
    expect(await inSmallHeap('list conflicts', holder)).toBe(String(LISTED));
    await change(store.client(holder), 'DELETE FROM schemaless.buffer WHERE datastore = ?', name);
  });

  it('are brought back in a process of a tenth of that', async () => {
    await bufferMany();
    await promote(opened);
    expect(JSON.parse(await inSmallHeap('recover', primary))).toEqual({ appended: ROWS, opened: 1, closed: [] });
  });
});
