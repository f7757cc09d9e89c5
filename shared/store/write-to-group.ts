import type { BufferedCell } from '../sql/encoded-cell.ts';
import type { PutResult } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { RowsAfter } from '../index/rows-after.ts';
import { maintainEntries } from '../index/maintain-entries.ts';
import { SqlError } from '../sql/client.ts';
import { areRestored } from '../sql/statements/append-cells.ts';
import { isRefused } from './append-result.ts';
import { appendAndRead, type Append } from './append-and-read.ts';
import {
  bufferOnSecondaries,
  markAnswered,
  withdrawCopies,
  withNewWriter,
  type HeldCells,
  type Secondaries,
} from './hints.ts';
import type { StoreContext } from '../access/context.ts';
import type { DatastoreTopology } from '../topology/topology.ts';

const NO_GROUPS: readonly string[] = [];

export type Writes = StoreContext & { readonly datastore: string; readonly secondaries: Secondaries };

export interface WriteContext extends Writes {
  /** As the request found them. */
  readonly homes: DatastoreTopology['homes'];
  /** @default appendToPrimary */
  readonly append?: Append;
}

/** Refuses an overload before anything is buffered: hints of refused writes would add to it. */
export async function admitToGroup(
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
        const { results, after, group: at } = await appendAndRead(context, datastore, shard, ofShard, context.append);
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

/** Gives cells another hint if the group that became their primary was their only hint holder. */
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

export function isStored({ outcome }: PutResult): boolean {
  return outcome === 'stored' || outcome === 'stored_before';
}

export function unavailable(cells: readonly BufferedCell[], reason: string): readonly PutResult[] {
  return cells.map(({ shard }) => ({ outcome: 'unavailable', shard, reason }));
}

/** Works on the items of each part side by side. Returns results in the items' order. */
export async function inParts<Part, Item, Result>(
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
