import { toText } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';
import { recordWriter } from '../sql/statements/record-writer.ts';
import { selectBodyHashes, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import { selectToBringBack, toWaitingRow, type WaitingRow } from '../sql/statements/select-buffered.ts';
import { selectUnknownWriter, toUnknownWriter } from '../sql/statements/select-unknown-writer.ts';
import { groupBy, type StoreContext } from '../store/context.ts';
import { appendRows, openRows, type AppendedRows, type OpenRow } from './append-rows.ts';

/** A copy on some group, and since when it is there. */
interface Copy {
  readonly holder: string;
  readonly row: WaitingRow;
  readonly since: string;
}

/** Rows of a buffer table read at a time. */
const PAGE_ROWS = 1000;
/** Copies brought back together: the order of those of one address holds among them, too. */
const BATCH_COPIES = 200;

/**
 * Brings back what a group's new writer lacks: a reader that was promoted without the last cells takes no appends until
 * every other group's copies were looked through. Those first that somebody may have been told are stored, oldest first,
 * then those of writers that were answered `buffered`, which give way to them; so a cell that was acknowledged as stored
 * wins over whatever was sent to its address since.
 *
 * Can be repeated after a crash anywhere in between, and done by several at once: an append leaves out what is there.
 *
 * @returns how many cells were brought back; undefined when the writer is known to have them all
 * @throws SqlError or SchemalessError when a group cannot be asked: the shards stay closed to appends, and writes to
 * them are buffered, until this is done
 */
export async function recoverPrimary(context: StoreContext, primary: string): Promise<number | undefined> {
  const client = await context.groups.client(primary);
  const serverId = toUnknownWriter(await client.select(selectUnknownWriter(), 'writer'));
  if (serverId === undefined) return undefined;
  const holders = (await context.groups.names()).filter((group) => group !== primary);
  const done: AppendedRows = { conflicts: [], failed: [], appended: 0 };
  for (const gaveWay of [false, true]) {
    let batch: Copy[] = [];
    for await (const copy of oldestFirst(await Promise.all(holders.map((holder) => copiesOf(context, holder, gaveWay))))) {
      if (!(await isOf(context, primary, copy.row))) continue;
      batch.push(copy);
      if (batch.length < BATCH_COPIES) continue;
      await bringBack(context, client, batch, done);
      batch = [];
    }
    if (batch.length > 0) await bringBack(context, client, batch, done);
  }
  await client.change(recordWriter(serverId));
  return done.appended;
}

async function isOf({ topology }: StoreContext, primary: string, { datastore, shard }: WaitingRow): Promise<boolean> {
  return (await topology.datastore(datastore))?.places[shard]?.group === primary;
}

/** The copies that a group holds, oldest first, read page by page. */
async function copiesOf(context: StoreContext, holder: string, gaveWay: boolean): Promise<AsyncGenerator<Copy>> {
  const client = await context.groups.client(holder);
  return (async function* () {
    for (let after = 0; ; ) {
      const rows = await client.select(selectToBringBack(gaveWay, after, PAGE_ROWS), 'writer');
      for (const row of rows) yield { holder, row: toWaitingRow(row), since: toText(row[7]) };
      if (rows.length < PAGE_ROWS) return;
      after = toWaitingRow(rows.at(-1) ?? []).id;
    }
  })();
}

/** Several lists, each in order, as one. */
async function* oldestFirst(lists: readonly AsyncGenerator<Copy>[]): AsyncGenerator<Copy> {
  const heads = await Promise.all(lists.map((list) => list.next()));
  for (;;) {
    let oldest: number | undefined;
    for (const [place, head] of heads.entries()) {
      const best = oldest === undefined ? undefined : heads[oldest];
      if (!head.done && (!best || best.done || head.value.since < best.value.since)) oldest = place;
    }
    if (oldest === undefined) return;
    const head = heads[oldest];
    if (head?.done === false) yield head.value;
    heads[oldest] = await (lists[oldest] as AsyncGenerator<Copy>).next();
  }
}

/** Appends those copies that the writer lacks, in their order. */
async function bringBack(context: StoreContext, client: SqlClient, copies: readonly Copy[], done: AppendedRows): Promise<void> {
  const { hashes } = toBodyHashes(await client.select(selectBodyHashes(copies.map(({ row }) => row)), 'writer'), copies.length);
  const missing = copies.filter((_, place) => hashes[place] === undefined);
  const opened = new Map<string, OpenRow>();
  await Promise.all(
    [...groupBy(missing, ({ holder }) => holder)].map(async ([holder, ofHolder]) => {
      const rows = await openRows(await context.groups.client(holder), ofHolder.map(({ row }) => row), done);
      for (const row of rows) opened.set(`${holder}/${row.id}`, row);
    }),
  );
  const rows = missing.flatMap(({ holder, row }) => opened.get(`${holder}/${row.id}`) ?? []);
  await Promise.all(
    [...groupBy(rows, ({ datastore, shard }) => `${datastore}/${shard}`).values()].map(async (ofShard) => {
      const [{ datastore, shard } = { datastore: '', shard: 0 }] = ofShard;
      await appendRows(context, { datastore, shard, anyWriter: true }, ofShard, done);
    }),
  );
}
