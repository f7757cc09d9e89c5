import { parseAddress } from '../address.ts';
import { encodeBody } from '../body/codec.ts';
import { equalJson } from '../body/equal.ts';
import { LIMITS, type NewCell, type PutResult } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { keepEntries } from '../index/keep-entries.ts';
import { shardOf } from '../shard.ts';
import { SqlError } from '../sql/client.ts';
import type { BufferedCell } from '../sql/statements/insert-buffered.ts';
import { requireDatastore } from '../topology/groups.ts';
import { bufferOnSecondaries, markAnswered, withdrawCopies } from './buffer-writes.ts';
import { byGroup, groupBy, placeOf, type StoreContext } from './context.ts';
import type { Datastore } from './datastore.ts';
import { joinWrites, type JoinedWrites } from './join-writes.ts';
import { parseBatch } from './parse.ts';

/**
 * The write path: validate, route, buffer on secondaries, append on the primary, answer. Groups go side by side, and
 * the shards of a group too.
 */
export function cellWrites(context: StoreContext, name: string, shards: number): Pick<Datastore, 'put' | 'batchPut'> {
  const writes: WriteContext = { ...context, datastore: name, ...joinWrites(context, name) };
  const prepare = (cell: NewCell, prefix: string): BufferedCell => {
    const address = parseAddress(cell, prefix);
    return { ...address, body: cell.body, encoded: encodeBody(cell.body, `${prefix}body`), shard: shardOf(address.row_key, shards) };
  };

  /** Refuses what could not be written, or not be read again, the way that MySQL is reached. */
  async function checkBounds(cells: readonly BufferedCell[], field: (place: number) => string): Promise<void> {
    const [first] = cells;
    if (!first) return;
    const { group } = placeOf(await requireDatastore(context.topology, name), first.shard);
    const { bodyBytes, writtenBytes } = (await context.groups.client(group)).abilities.bounds;
    for (const [place, { encoded, row_key, column_name, ref_key }] of cells.entries()) {
      if (encoded.length <= bodyBytes) continue;
      throw new SchemalessError('body_too_large', `${field(place)}: wanted at most ${bodyBytes} bytes, encoded, got ${encoded.length}`, { field: field(place), address: { row_key, column_name, ref_key } });
    }
    const most = Math.min(LIMITS.requestBytes, writtenBytes);
    const bytes = cells.reduce((sum, { encoded }) => sum + encoded.length, 0);
    if (cells.length > 1 && bytes > most) throw new SchemalessError('request_too_large', `cells: wanted at most ${most} bytes, encoded, got ${bytes}`, { field: 'cells' });
  }

  async function write(cells: readonly BufferedCell[]): Promise<readonly PutResult[]> {
    const topology = await requireDatastore(context.topology, name);
    const results = new Map<BufferedCell, PutResult>();
    await Promise.all(
      [...byGroup(topology, cells)].map(async ([group, ofGroup]) => {
        for (const [cell, result] of await admitToGroup(writes, group, ofGroup)) results.set(cell, result);
      }),
    );
    return cells.map((cell) => {
      const result = results.get(cell);
      if (!result) throw new Error('a write without a result');
      context.report({ kind: 'put', datastore: name, outcome: result.outcome });
      return result;
    });
  }

  return {
    async put(cell) {
      const prepared = [prepare(cell, '')];
      await checkBounds(prepared, () => 'body');
      const [result] = await write(prepared);
      if (!result) throw new Error('a put without a result');
      return result;
    },

    async batchPut(cells) {
      const prepared = parseBatch(cells, 'cells', prepare);
      await checkBounds(prepared, (place) => `cells[${place}].body`);
      return settleRepeats(prepared, write);
    },
  };
}

/** What the write path of one datastore works with. */
type WriteContext = StoreContext & JoinedWrites & { readonly datastore: string };

/** Refused before anything is buffered where too much of the group is under way: copies of refused writes would only add to it. */
async function admitToGroup(context: WriteContext, group: string, cells: readonly BufferedCell[]): Promise<(readonly [BufferedCell, PutResult])[]> {
  try {
    return await context.admit(group, () => writeToGroup(context, group, cells));
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'overloaded') throw error;
    return cells.map((cell) => [cell, { outcome: 'unavailable', shard: cell.shard, reason: error.message }]);
  }
}

/** Cells of one primary: buffered together, appended shard by shard. */
async function writeToGroup(context: WriteContext, group: string, cells: readonly BufferedCell[]): Promise<(readonly [BufferedCell, PutResult])[]> {
  const { datastore } = context;
  const holders = await bufferOnSecondaries(context, cells, context.bufferCopies, [group]);
  if (holders.length < Math.min(1, context.bufferCopies)) {
    // The primary is not tried: a cell on it alone could be lost with it.
    return cells.map((cell) => [cell, { outcome: 'unavailable', shard: cell.shard, reason: 'no other group could take a copy' }]);
  }
  const done = await Promise.all(
    [...groupBy(cells, ({ shard }) => shard)].map(async ([shard, ofShard]): Promise<(readonly [BufferedCell, PutResult])[]> => {
      try {
        const appended = await context.append(shard, ofShard);
        return ofShard.map((cell, place) => [cell, appended[place] as PutResult]);
      } catch (error) {
        if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
        context.report({ kind: 'primary_failed', group, error });
        return settleWithoutPrimary(context, { group, holders, cells: ofShard });
      }
    }),
  );
  const results = done.flat();
  const conflicts = results.filter(([, { outcome }]) => outcome === 'conflict').map(([cell]) => cell);
  const stored = results.filter(([, { outcome }]) => outcome === 'stored' || outcome === 'stored_before').map(([cell]) => cell);
  await Promise.all([withdrawCopies(context, datastore, conflicts, holders), keepEntries(context, datastore, stored)]);
  return results;
}

/** The primary failed: a second copy goes to another group, so that the cells outlive either. */
async function settleWithoutPrimary(
  context: WriteContext,
  { group, holders, cells }: { readonly group: string; readonly holders: readonly string[]; readonly cells: readonly BufferedCell[] },
): Promise<(readonly [BufferedCell, PutResult])[]> {
  if (holders.length === 0) {
    return cells.map((cell) => [cell, { outcome: 'unavailable', shard: cell.shard, reason: 'the primary failed and writes are not buffered here' }]);
  }
  const more = holders.length >= 2 ? [] : await bufferOnSecondaries(context, cells, 2 - holders.length, [group, ...holders]);
  await markAnswered(context, context.datastore, cells, [...holders, ...more]);
  const copies = holders.length + more.length;
  return cells.map((cell) => [cell, { outcome: 'buffered', shard: cell.shard, copies }]);
}

/**
 * The same address twice in one batch. The first is written; a later one is judged by what became of it, or, where
 * the first lost against another body, written after it.
 */
async function settleRepeats(cells: readonly BufferedCell[], write: (cells: readonly BufferedCell[]) => Promise<readonly PutResult[]>): Promise<readonly PutResult[]> {
  const firsts = [...groupBy(cells, ({ row_key, column_name, ref_key }) => `${row_key}/${ref_key}/${column_name}`).values()].map(([first]) => first as BufferedCell);
  const written = await write(firsts);
  if (firsts.length === cells.length) return written;

  const addressOf = ({ row_key, column_name, ref_key }: BufferedCell) => `${row_key}/${ref_key}/${column_name}`;
  const byAddress = new Map(firsts.map((first, place) => [addressOf(first), { first, result: written[place] as PutResult }]));
  const results: PutResult[] = [];
  for (const cell of cells) {
    const { first, result } = byAddress.get(addressOf(cell)) ?? { first: cell, result: undefined };
    if (!result) throw new Error('a repeat without its first');
    if (cell === first) results.push(result);
    else if (result.outcome === 'conflict' && !equalJson(first.body, cell.body)) results.push(...(await write([cell])));
    else results.push(judgeRepeat(result, equalJson(first.body, cell.body)));
  }
  return results;
}

function judgeRepeat(first: PutResult, equal: boolean): PutResult {
  switch (first.outcome) {
    case 'stored':
    case 'stored_before':
      return { ...first, outcome: equal ? 'stored_before' : 'conflict' };
    case 'buffered':
      return equal ? first : { outcome: 'conflict', shard: first.shard };
    default:
      return first;
  }
}
