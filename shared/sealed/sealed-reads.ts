import type { Cell } from '../cell.ts';
import type { Datastore, Found, Page, ReadOptions } from '../contract/datastore.ts';
import type { FieldHash, IndexAnswer, IndexEntry, IndexQuery } from '../contract/index-query.ts';
import { told, type LookUps } from '../store/look-ups.ts';
import { openCells } from './open-cells.ts';
import type { SealedParts } from './seal-cells.ts';

type Stored = Datastore & LookUps;
type Reads = Pick<
  Stored,
  'findEach' | 'get' | 'getLatest' | 'versions' | 'row' | 'batchGet' | 'log' | 'query' | 'count'
>;

/** Opens cells, unless the options ask for them as stored. */
type Open = <Read extends Cell>(
  cells: readonly Read[],
  options?: Opening,
) => readonly Read[] | Promise<readonly Read[]>;

type Opening = Pick<ReadOptions, 'sealed'>;

/** Returns the reads of a datastore, which open sealed fields. */
export function sealedReads(stored: Stored, parts: SealedParts): Reads {
  const open: Open = (cells, { sealed = false } = {}) => (sealed ? cells : openCells(stored.name, parts, cells));
  return {
    ...cellsOpened(stored, open),
    async query(query) {
      const answer = await stored.query({ ...query, ...(await hashed(parts, query.where)) });
      return query.columns === undefined ? answer : entriesOpened(answer, open);
    },
    count: async (count) => stored.count({ ...count, ...(await hashed(parts, count.where)) }),
  };
}

function cellsOpened(stored: Stored, open: Open): Omit<Reads, 'query' | 'count'> {
  const openPage = async <Next>(page: Page<Next>, options?: Opening): Promise<Page<Next>> => ({
    ...page,
    cells: await open(page.cells, options),
  });
  return {
    async findEach(keys, options, tell) {
      const opening: Promise<void>[] = [];
      await stored.findEach(keys, options, (position, found) => {
        if ('error' in found) return tell(position, found);
        opening.push(told(openFound<Found>(found, open, options), (opened) => tell(position, opened)));
      });
      await Promise.all(opening);
    },
    get: async (address, options) => openFound(await stored.get(address, options), open, options),
    getLatest: async (key, options) => openFound(await stored.getLatest(key, options), open, options),
    versions: async (key, options) => openPage(await stored.versions(key, options), options),
    row: async (rowKey, options) => openPage(await stored.row(rowKey, options), options),
    async batchGet(keys, options) {
      const items = await stored.batchGet(keys, options);
      const cells = items.filter((item) => item !== null && 'row_key' in item);
      const opened = (await open(cells, options)).values();
      return items.map((item) => {
        if (item === null || !('row_key' in item)) return item;
        const cell = opened.next().value ?? item;
        return cell.error ? { error: cell.error } : cell;
      });
    },
    async log(locations, options) {
      const logs = await stored.log(locations, options);
      const cells = logs.flatMap((log) => ('cells' in log ? log.cells : []));
      const opened = (await open(cells, options)).values();
      return logs.map((log) =>
        'cells' in log ? { ...log, cells: log.cells.map((cell) => opened.next().value ?? cell) } : log,
      );
    },
  };
}

async function openFound<Found extends { readonly cell: Cell | null }>(
  found: Found,
  open: Open,
  options: Opening | undefined,
): Promise<Found> {
  if (found.cell === null) return found;
  const [cell = found.cell] = await open([found.cell], options);
  if (cell.error) throw cell.error;
  return { ...found, cell };
}

async function entriesOpened(answer: IndexAnswer, open: Open): Promise<IndexAnswer> {
  const opened = (await open(answer.entries.flatMap(cellsOf))).values();
  const entries = answer.entries.map((entry) =>
    entry.cells && !('error' in entry.cells)
      ? { ...entry, cells: entry.cells.map((cell) => opened.next().value ?? cell) }
      : entry,
  );
  return { ...answer, entries };
}

function cellsOf({ cells }: IndexEntry): readonly Cell[] {
  return cells && !('error' in cells) ? cells : [];
}

/** A hash that no value has. */
const NOTHING = '00000000-0000-0000-0000-000000000000';

/** Returns how to hash sealed fields of a query; nothing if it has none, so that it needs no key. */
async function hashed(
  { paths, known }: SealedParts,
  where: IndexQuery['where'],
): Promise<{ readonly hashed?: FieldHash }> {
  const fields = [...(await paths()).values()].flat().filter((one) => one.hashed !== undefined);
  if (!fields.some(({ path }) => Object.hasOwn(where, path))) return {};
  const sealing = await known();
  // Without any key there is nothing to find.
  return { hashed: (field, value) => sealing?.keys.hashOf(field, value) ?? NOTHING };
}
