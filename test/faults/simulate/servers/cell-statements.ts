import type { SqlRow } from '../../../../shared/sql/client.ts';
import { bound, cellsOf, shardsIn, shownCells, type Execution, type Plan } from './plan.ts';
import { addressOf, type KeptCell } from './tables.ts';

/** Reads of cells: `select-cells`, `select-versions`, `select-row`, `select-body-hashes`. */
export function planCellRead(sql: string): Plan | undefined {
  const shards = shardsIn(sql);
  const [shard = -1] = shards;
  if (/^SELECT -?\d+ AS list, /.test(sql)) {
    const asked = [...sql.matchAll(HASHES)].map(([, list, digits, tuples = '']): AskedHashes => ({
      list: Number(list),
      shard: Number(digits),
      addresses: tuples === '' ? 1 : tuples.split('), (').length,
    }));
    const withRole = sql.startsWith('SELECT -1 ');
    return { kind: 'body hashes', shards, read: (execution) => bodyHashes(execution, asked, withRole) };
  }
  if (!/^\(SELECT \d+, \d+, added_id, row_key, /.test(sql)) return undefined;
  const withHead = HEAD.test(sql);
  if (/ OVER \(ORDER BY ref_key (ASC|DESC)\)/.test(sql)) {
    const beyond = / AND ref_key [<>] \?/.test(sql);
    return {
      kind: 'versions',
      shards,
      read: (execution) => versions(execution, shard, { isAscending: sql.includes('ref_key ASC'), beyond, withHead }),
    };
  }
  if (sql.includes(' OVER (ORDER BY cell.column_name)')) {
    const columns = /column_name IN \(([?, ]*)\)/.exec(sql)?.[1]?.split(', ').length ?? 0;
    return {
      kind: 'row',
      shards,
      read: (execution) => row(execution, shard, { columns, beyond: sql.includes('AND column_name > ?'), withHead }),
    };
  }
  if (!/`entity` WHERE row_key = \? AND column_name = \? (ORDER BY ref_key DESC LIMIT 1|AND ref_key = \?)\)/.test(sql))
    return undefined;
  const branches = sql.split(' UNION ALL ').map((branch, position): CellBranch => {
    const [, item = '', shard = ''] = /^\(SELECT (\d+), (\d+)/.exec(branch) ?? [];
    if (HAS_ERASURES.test(branch))
      return { item: Number(item), shard: Number(shard), most: undefined, what: 'has_erasures' };
    if (item === '' || shardsIn(branch)[0] !== shards[position]) throw new Error(`not understood: ${branch}`);
    const most = / (?:LEFT\(body, |IF\(LENGTH\(body\) > )(\d+)(?:\)|, X'', body\)), /.exec(branch)?.[1];
    return {
      item: Number(item),
      shard: Number(shard),
      most: most === undefined ? undefined : Number(most),
      what: HEAD.test(branch) ? 'head' : branch.includes('ORDER BY ref_key DESC') ? 'latest' : 'exact',
    };
  });
  return { kind: 'cells', shards, read: (execution) => cells(execution, branches) };
}

const HEAD =
  /\(SELECT \d+, \d+, COALESCE\(MAX\(added_id\), 0\), NULL, NULL, NULL, NULL, NULL(?:, NULL)? FROM [^()]*\)$/;

/** Whether something was erased: nothing is here. */
const HAS_ERASURES = /^\(SELECT \d+, \d+, has_erasures, /;

interface CellBranch {
  readonly item: number;
  readonly shard: number;
  /** Of longer bodies only so many bytes come. */
  readonly most: number | undefined;
  readonly what: 'head' | 'latest' | 'exact' | 'has_erasures';
}

function cellRow(item: number, cell: KeptCell, most?: number): SqlRow {
  const { shard, added_id, rowKey, columnName, ref_key, body, createdText } = cell;
  const row: SqlRow = [item, shard, added_id, rowKey, columnName, ref_key, body.subarray(0, most), createdText];
  return most === undefined ? row : [...row, body.length];
}

function headRow(execution: Execution, item: number, shard: number): SqlRow {
  return [item, shard, shownCells(execution, shard).at(-1)?.added_id ?? 0, null, null, null, null, null];
}

function cells(execution: Execution, branches: readonly CellBranch[]): SqlRow[] {
  const values = bound(execution.parameters);
  return branches.flatMap(({ item, shard, most, what }): SqlRow[] => {
    if (what === 'head') return [headRow(execution, item, shard)];
    if (what === 'has_erasures') {
      values.some('text', 'number');
      return [[item, shard, 0, null, null, null, null, null]];
    }
    const [rowKey, columnName] = [values.bytes(), values.bytes()];
    const found =
      what === 'exact'
        ? exact(execution, shard, addressOf(rowKey, columnName, values.number()))
        : columnCells(execution, shard, rowKey, columnName).at(-1);
    return found ? [cellRow(item, found, most)] : [];
  });
}

function exact(execution: Execution, shard: number, address: string): KeptCell | undefined {
  const cell = cellsOf(execution, shard).byAddress.get(address);
  return cell && !execution.isHidden(cell) ? cell : undefined;
}

/** The cells of one column, in the order of their ref keys. */
function columnCells(execution: Execution, shard: number, rowKey: Uint8Array, columnName: Uint8Array): KeptCell[] {
  return shownCells(execution, shard)
    .filter((cell) => Buffer.compare(cell.rowKey, rowKey) === 0 && Buffer.compare(cell.columnName, columnName) === 0)
    .sort((one, other) => one.ref_key - other.ref_key);
}

type Flags<Flag extends string> = Readonly<Record<Flag, boolean>>;

function versions(
  execution: Execution,
  shard: number,
  { isAscending, beyond, withHead }: Flags<'isAscending' | 'beyond' | 'withHead'>,
): SqlRow[] {
  const values = bound(execution.parameters);
  const column = columnCells(execution, shard, values.bytes(), values.bytes());
  const after = beyond ? values.number() : undefined;
  const isBeyond = ({ ref_key }: KeptCell): boolean =>
    after === undefined || (isAscending ? ref_key > after : ref_key < after);
  const [wanted, [limit, bytes]] = [column.filter(isBeyond), values.some('number', 'number')];
  return listed(execution, isAscending ? wanted : wanted.reverse(), { shard, limit, bytes, withHead });
}

function row(
  execution: Execution,
  shard: number,
  { columns, beyond, withHead }: Flags<'beyond' | 'withHead'> & { readonly columns: number },
): SqlRow[] {
  const values = bound(execution.parameters);
  const rowKey = values.bytes();
  const wanted = new Set(Array.from({ length: columns }, () => Buffer.from(values.bytes()).toString('latin1')));
  const after = beyond ? values.bytes() : undefined;
  const latest = new Map<string, KeptCell>();
  for (const cell of shownCells(execution, shard)) {
    const name = Buffer.from(cell.columnName).toString('latin1');
    if (
      Buffer.compare(cell.rowKey, rowKey) !== 0 ||
      (columns > 0 && !wanted.has(name)) ||
      (after && Buffer.compare(cell.columnName, after) <= 0)
    )
      continue;
    if ((latest.get(name)?.ref_key ?? -1) < cell.ref_key) latest.set(name, cell);
  }
  const ordered = [...latest.values()].sort((one, other) => Buffer.compare(one.columnName, other.columnName));
  return listed(execution, ordered, { shard, limit: values.number(), bytes: values.number(), withHead });
}

interface Listing {
  readonly item?: number;
  readonly shard: number;
  readonly limit: number;
  readonly bytes: number;
  readonly withHead: boolean;
  /** Whether the cell that reaches the bytes is left out, too. */
  readonly onlyFitting?: boolean;
}

/** Cells of a list, cut at a number of them or at a sum of bytes. */
export function listed(
  execution: Execution,
  cells: readonly KeptCell[],
  { item = 0, shard, limit, bytes, withHead, onlyFitting = false }: Listing,
): SqlRow[] {
  let before = 0;
  const fitting: SqlRow[] = [];
  for (const cell of cells.slice(0, limit)) {
    if (before + (onlyFitting ? cell.body.length : 0) >= bytes) break;
    fitting.push(cellRow(item, cell));
    before += cell.body.length;
  }
  return withHead ? [...fitting, headRow(execution, item, shard)] : fitting;
}

/** The bodies of one shard: the addresses may be one, or a list. */
const HASHES =
  /SELECT (\d+) AS list, UNHEX\(SHA2\(body, 256\)\) AS body_hash, row_key, column_name, ref_key FROM `[^`]*_(\d{4,5})`\.`entity` WHERE (?:row_key = \? AND column_name = \? AND ref_key = \?|\(row_key, column_name, ref_key\) IN \(([?(), ]*)\))/g;

interface AskedHashes {
  readonly list: number;
  readonly shard: number;
  readonly addresses: number;
}

function bodyHashes(execution: Execution, asked: readonly AskedHashes[], withRole: boolean): SqlRow[] {
  const values = bound(execution.parameters);
  const found = asked.flatMap(({ list, shard, addresses }) =>
    Array.from({ length: addresses }, () => addressOf(values.bytes(), values.bytes(), values.number())).flatMap(
      (address): SqlRow[] => {
        const cell = exact(execution, shard, address);
        return cell ? [[list, cell.bodyHash, cell.rowKey, cell.columnName, cell.ref_key]] : [];
      },
    ),
  );
  const role: SqlRow = [-1, execution.isWritable ? Buffer.from(String(execution.serverId)) : null, null, null, null];
  return withRole ? [role, ...found] : found;
}
