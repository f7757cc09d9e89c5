import type { BufferedCell, PlacedCell } from '../sql/encoded-cell.ts';
import { parseAddress, parseBatch, shardOf } from '../address.ts';
import { encodeBody } from '../body/codec.ts';
import { LIMITS, type NewCell, type PutResult, type RestoredCell } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { RowsAfter } from '../index/rows-after.ts';
import { maintainEntries } from '../index/maintain-entries.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { areRestored } from '../sql/statements/append-cells.ts';
import { parseTime } from '../time.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import { isRefused } from './append-result.ts';
import { appendAndRead } from './append-and-read.ts';
import {
  bufferOnSecondaries,
  markAnswered,
  secondariesOf,
  withdrawCopies,
  withNewWriter,
  type HeldCells,
  type Secondaries,
} from './hints.ts';
import { settleRepeats } from './settle-repeats.ts';
import type { StoreContext } from '../access/context.ts';
import type { Datastore } from '../contract/datastore.ts';
import type { DatastoreTopology } from '../topology/topology.ts';

/** The write path: validate, route, buffer on secondaries, append on the primary, answer. */
export function cellWrites(
  context: StoreContext,
  name: string,
  shards: number,
): Pick<Datastore, 'put' | 'batchPut' | 'batchRestore'> {
  const writes: Writes = { ...context, datastore: name, secondaries: secondariesOf(context, name) };
  const prepare = (cell: NewCell, prefix: string): PlacedCell => {
    const address = parseAddress(cell, prefix);
    const encoded = encodeBody(cell.body, `${prefix}body`);
    return { ...address, body: cell.body, encoded, shard: shardOf(address.row_key, shards) };
  };

  async function write(
    prepared: readonly PlacedCell[],
    field: (position: number) => string,
  ): Promise<readonly PutResult[]> {
    const topology = await requireDatastore(context.topology, name);
    const { homes } = topology;
    const groupOf = ({ shard }: PlacedCell): string => homeOf(topology, shard).group;
    const [first] = prepared;
    if (!first) return [];
    checkBounds(prepared, await context.groups.client(groupOf(first)), field);
    return settleRepeats(prepared, (some) =>
      inParts(withNewWriter(some), groupOf, (group, ofGroup) => admitToGroup({ ...writes, homes }, group, ofGroup)),
    );
  }

  function batchOf<Given extends NewCell>(prepareOne: (cell: Given, prefix: string) => PlacedCell) {
    return async (cells: readonly Given[]): Promise<readonly PutResult[]> =>
      write(parseBatch(cells, 'cells', prepareOne), (position) => `cells[${position}].body`);
  }

  return {
    async put(cell) {
      const [result] = await write([prepare(cell, '')], () => 'body');
      return result as PutResult;
    },

    batchPut: batchOf(prepare),

    batchRestore: batchOf((cell: RestoredCell, prefix): PlacedCell => ({
      ...prepare(cell, prefix),
      stored_at: parseTime(cell.created_at, `${prefix}created_at`),
    })),
  };
}

/** Writes erasures, whose names no application can use: as any write, but for the check of the name. */
export async function reservedWrites(
  context: StoreContext,
  name: string,
): Promise<(cell: NewCell) => Promise<PutResult>> {
  const { shards } = await requireDatastore(context.topology, name);
  const writes: Writes = { ...context, datastore: name, secondaries: secondariesOf(context, name) };
  return async (cell) => {
    const shard = shardOf(cell.row_key, shards);
    const topology = await requireDatastore(context.topology, name);
    const { group } = homeOf(topology, shard);
    const prepared = withNewWriter([{ ...cell, encoded: encodeBody(cell.body), shard }]);
    const { homes } = topology;
    const [result] = (await admitToGroup({ ...writes, homes }, group, prepared)) as readonly [PutResult];
    return result;
  };
}

/** Refuses what could not be written or read again over this way to MySQL, which all groups share. */
function checkBounds(
  cells: readonly PlacedCell[],
  { abilities }: SqlClient,
  field: (position: number) => string,
): void {
  const { bodyBytes, writtenBytes } = abilities.bounds;
  let bytes = 0;
  for (const [position, { encoded, row_key, column_name, ref_key }] of cells.entries()) {
    bytes += encoded.length;
    if (encoded.length <= bodyBytes) continue;
    throw new SchemalessError(
      'body_too_large',
      `${field(position)}: wanted at most ${bodyBytes} bytes, encoded, got ${encoded.length}`,
      { field: field(position), address: { row_key, column_name, ref_key } },
    );
  }
  const most = Math.min(LIMITS.requestBytes, writtenBytes);
  if (cells.length > 1 && bytes > most)
    throw new SchemalessError('request_too_large', `cells: wanted at most ${most} bytes, encoded, got ${bytes}`, {
      field: 'cells',
    });
}

const NO_GROUPS: readonly string[] = [];

type Writes = StoreContext & { readonly datastore: string; readonly secondaries: Secondaries };

interface WriteContext extends Writes {
  /** As the request found them. */
  readonly homes: DatastoreTopology['homes'];
}

/** Refuses an overload before anything is buffered: hints of refused writes would add to it. */
async function admitToGroup(
  context: WriteContext,
  group: string,
  cells: readonly BufferedCell[],
): Promise<readonly PutResult[]> {
  try {
    return await context.admit(
      group,
      (stepAside) => writeToGroup({ ...context, secondaries: { ...context.secondaries, stepAside } }, group, cells),
      'writes',
    );
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'overloaded') throw error;
    return unavailable(cells, error.message);
  }
}

/** Writes cells of one primary: buffered in one batch, appended shard by shard. */
async function writeToGroup(
  context: WriteContext,
  group: string,
  cells: readonly BufferedCell[],
): Promise<readonly PutResult[]> {
  const { datastore } = context;
  const hintHolders =
    context.bufferCopies === 0
      ? NO_GROUPS
      : await bufferOnSecondaries(
          context.secondaries,
          cells,
          context.bufferCopies,
          [group],
          copyGroups(context, cells),
        );
  // The primary is not tried: a cell on it alone could be lost with it.
  if (hintHolders.length < Math.min(1, context.bufferCopies))
    return unavailable(cells, 'no other group could take a copy');
  const found: RowsAfter[] = [];
  const results = await inParts(
    cells,
    ({ shard }) => shard,
    async (shard, ofShard): Promise<readonly PutResult[]> => {
      try {
        const { results, after, group: at } = await appendAndRead(context, datastore, shard, ofShard);
        if (after) found.push(after);
        return at === group
          ? results
          : await withCopiesElsewhere(context, { cells: ofShard, hintHolders }, at, results);
      } catch (error) {
        if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
        context.report({ kind: 'primary_failed', group, error });
        const mayBeStored = error instanceof SqlError && error.failure === 'unclear';
        return settleWithoutPrimary(context, { cells: ofShard, hintHolders, mayBeStored }, group);
      }
    },
  );
  if (results.every(isStored)) {
    const areNew = results.every(({ outcome }) => outcome === 'stored');
    await maintainEntries(context, datastore, cells, { after: found, areNew });
  } else {
    const whose = (isSo: (result: PutResult) => boolean): BufferedCell[] =>
      cells.filter((_, position) => isSo(results[position] as PutResult));
    await Promise.all([
      withdrawCopies(context, datastore, whose(isRefused), hintHolders),
      maintainEntries(context, datastore, whose(isStored), { after: found }),
    ]);
  }
  return results;
}

function copyGroups({ homes }: WriteContext, cells: readonly BufferedCell[]): readonly string[] {
  return cells.flatMap(({ shard }) => homes[shard]?.copy?.group ?? []);
}

/** Cells whose primary failed; the end of their append may be unknown. */
interface UnstoredCells extends HeldCells {
  readonly mayBeStored: boolean;
}

/** Gives cells appended to a group that became their primary another hint, if it was their only hint hintHolder. */
async function withCopiesElsewhere(
  context: WriteContext,
  { cells, hintHolders }: HeldCells,
  primary: string,
  results: readonly PutResult[],
): Promise<readonly PutResult[]> {
  const stored = cells.filter((_, position) => isStored(results[position] as PutResult));
  if (stored.length === 0 || hintHolders.length === 0 || hintHolders.some((hintHolder) => hintHolder !== primary))
    return results;
  if ((await bufferOnSecondaries(context.secondaries, withNewWriter(stored), 1, [primary])).length > 0) return results;
  const reason = `shard ${cells[0]?.shard} was moved to ${primary}, and no other group could take a copy`;
  return results.map((result) => (isStored(result) ? { outcome: 'unavailable', shard: result.shard, reason } : result));
}

function isStored({ outcome }: PutResult): boolean {
  return outcome === 'stored' || outcome === 'stored_before';
}

function unavailable(cells: readonly BufferedCell[], reason: string): readonly PutResult[] {
  return cells.map(({ shard }) => ({ outcome: 'unavailable', shard, reason }));
}

/** Works on the items of each part side by side. Returns results in the items' order. */
async function inParts<Part, Item, Result>(
  items: readonly Item[],
  partOf: (item: Item) => Part,
  work: (part: Part, items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return work(partOf(only), items);
  const results: Result[] = [];
  await Promise.all(
    [...Map.groupBy(items.keys(), (position) => partOf(items[position] as Item))].map(async ([part, positions]) => {
      const done = await work(
        part,
        positions.map((position) => items[position] as Item),
      );
      for (const [at, position] of positions.entries()) results[position] = done[at] as Result;
    }),
  );
  return results;
}

/** Puts a second hint on another group after the primary failed. Hints of restored cells are taken back. */
async function settleWithoutPrimary(
  context: WriteContext,
  { cells, hintHolders, mayBeStored }: UnstoredCells,
  group: string,
): Promise<readonly PutResult[]> {
  if (hintHolders.length === 0) return unavailable(cells, 'the primary failed and writes are not buffered here');
  if (areRestored(cells)) {
    await withdrawCopies(context, context.datastore, cells, hintHolders);
    return unavailable(cells, 'the primary failed, and a buffered copy would not keep the time');
  }
  const again = withNewWriter(cells);
  const more =
    hintHolders.length >= 2
      ? []
      : await bufferOnSecondaries(context.secondaries, again, 2 - hintHolders.length, [group, ...hintHolders]);
  const held = [
    { cells, hintHolders },
    { cells: again, hintHolders: more },
  ];
  // The hints stay: whether they were marked is unknown, and another writer may rely on them.
  if (!(await markAnswered(context, context.datastore, held, mayBeStored)))
    return unavailable(cells, 'the primary failed, and no group confirmed its copy');
  return cells.map(({ shard }) => ({ outcome: 'buffered', shard, copies: hintHolders.length + more.length }));
}
