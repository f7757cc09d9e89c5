import type { SqlRow } from '../../../../shared/sql/client.ts';
import { latestOf } from './append-statements.ts';
import { bound, cellsOf, shardsIn, shownCells, type Execution, type Plan } from './plan.ts';
import { addressOf, type KeptCell } from './tables.ts';

/** Plans reads of cells: `select-cells` by their addresses, `select-body-hashes`. */
export function planCellRead(sql: string): Plan | undefined {
  const shards = shardsIn(sql);
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
  if (
    !/`entity` WHERE row_key = \? AND column_name = \? (?:AND ref_key = \?|ORDER BY ref_key DESC LIMIT 1)\)/.test(sql)
  )
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
      what: HEAD.test(branch) ? 'head' : branch.endsWith('LIMIT 1)') ? 'latest' : 'exact',
    };
  });
  return { kind: 'cells', shards, read: (execution) => cells(execution, branches) };
}

const HEAD =
  /\(SELECT \d+, \d+, COALESCE\(MAX\(added_id\), 0\), NULL, NULL, NULL, NULL, NULL(?:, NULL)? FROM [^()]*\)$/;

/** Selects whether cells were erased: none are here. */
const HAS_ERASURES = /^\(SELECT \d+, \d+, has_erasures, /;

interface CellBranch {
  readonly item: number;
  readonly shard: number;
  /** The bytes returned of a longer body. */
  readonly most: number | undefined;
  readonly what: 'head' | 'exact' | 'latest' | 'has_erasures';
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
    if (what === 'latest') {
      const [rowKey, columnName] = values.some('bytes', 'bytes');
      const shown = shownCells(execution, shard);
      const latest = latestOf(shown, rowKey, columnName);
      const cell = shown.find(({ address }) => address === addressOf(rowKey, columnName, latest));
      return cell ? [cellRow(item, cell, most)] : [];
    }
    const found = exact(execution, shard, addressOf(values.bytes(), values.bytes(), values.number()));
    return found ? [cellRow(item, found, most)] : [];
  });
}

function exact(execution: Execution, shard: number, address: string): KeptCell | undefined {
  const cell = cellsOf(execution, shard).byAddress.get(address);
  return cell && !execution.isHidden(cell) ? cell : undefined;
}

interface Listing {
  readonly item: number;
  readonly shard: number;
  readonly limit: number;
  readonly bytes: number;
  /** Whether the cell that reaches the bytes is left out as well. */
  readonly onlyFitting: boolean;
}

/** Returns cells of a list, cut at a number of them or at a sum of bytes, and the head of their log. */
export function listed(
  execution: Execution,
  cells: readonly KeptCell[],
  { item, shard, limit, bytes, onlyFitting }: Listing,
): SqlRow[] {
  let before = 0;
  const fitting: SqlRow[] = [];
  for (const cell of cells.slice(0, limit)) {
    if (before + (onlyFitting ? cell.body.length : 0) >= bytes) break;
    fitting.push(cellRow(item, cell));
    before += cell.body.length;
  }
  return [...fitting, headRow(execution, item, shard)];
}

/** Selects the bodies of one shard: the addresses may be one, or a list. */
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
