import {
  parseAddress,
  parseColumnName,
  parseKey,
  parseRefKey,
  parseRowKey,
  parseBatch,
  parseDigestRange,
  parseLimit,
  parseLocation,
  shardOf,
} from '../../shared/address.ts';
import { decodeBody, encodeBody } from '../../shared/body/codec.ts';
import { equalJson } from '../../shared/body/equal.ts';
import { EMPTY_DIGEST, nextDigest } from '../../shared/body/log-digest.ts';
import { checkBody } from '../../shared/body/measure.ts';
import {
  LIMITS,
  type Cell,
  type CellKey,
  type LatestCondition,
  type Location,
  type NewCell,
  type PutResult,
  type RestoredCell,
  type RowTransaction,
  type Served,
  type TransactionPlace,
  type TransactionResult,
} from '../../shared/cell.ts';
import { parseTransaction } from '../../shared/api/parse-transaction.ts';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import type { IndexAnswer, IndexCount, IndexCounted, IndexQuery } from '../../shared/contract/index-query.ts';
import { referenceCount, referenceQuery } from './reference-query.ts';
import { parseTime } from '../../shared/time.ts';
import type {
  BatchItem,
  Datastore,
  Found,
  LogOptions,
  Page,
  RowOptions,
  ShardDigest,
  ShardHead,
  ShardLog,
  VersionsOptions,
} from '../../shared/contract/datastore.ts';

const SERVED: Served = { served_by: 'writer', stale: false };

/** The contract of a datastore as a program, in memory: read this to know what the real store does. */
export function referenceStore(name: string, shards: number, indexes: readonly IndexDefinition[] = []): Datastore {
  const logs = new MemoryLogs(shards);

  return {
    name,
    shards,

    async put(cell: NewCell): Promise<PutResult> {
      const address = parseAddress(cell);
      checkBody(cell.body);
      return logs.append({ ...address, body: cell.body });
    },

    async batchPut(cells: readonly NewCell[]): Promise<readonly PutResult[]> {
      return parseBatch(cells, 'cells', (cell, prefix) => {
        checkBody(cell.body, `${prefix}body`);
        return { ...parseAddress(cell, prefix), body: cell.body };
      }).map((cell) => logs.append(cell));
    },

    async transact(given: RowTransaction): Promise<TransactionResult> {
      const { cells, conditions } = parseTransaction(given, (cell, prefix) => {
        checkBody(cell.body, `${prefix}body`);
        const { created_at: time } = cell;
        const created_at = time === undefined ? {} : { created_at: parseTime(time, `${prefix}created_at`) };
        return { ...parseAddress(cell, prefix), body: cell.body, ...created_at };
      });
      return logs.transact(cells, conditions);
    },

    async batchRestore(cells: readonly RestoredCell[]): Promise<readonly PutResult[]> {
      return parseBatch(cells, 'cells', (cell, prefix) => {
        checkBody(cell.body, `${prefix}body`);
        const created_at = parseTime(cell.created_at, `${prefix}created_at`);
        return { cell: { ...parseAddress(cell, prefix), body: cell.body }, created_at };
      }).map(({ cell, created_at }) => logs.append(cell, created_at));
    },

    async get(address): Promise<Found> {
      return { cell: logs.find(parseAddress(address)), ...SERVED };
    },

    async getLatest(key): Promise<Found> {
      const latest = { row_key: parseRowKey(key.row_key), column_name: parseColumnName(key.column_name) };
      return { cell: logs.find(latest), ...SERVED };
    },

    async versions(key, options: VersionsOptions = {}): Promise<Page<number>> {
      const limit = parseLimit(options.limit);
      const after = options.after === undefined ? undefined : parseRefKey(options.after, 'after');
      const all = logs.column(parseRowKey(key.row_key), parseColumnName(key.column_name));
      return versionsOf(all, { limit, after, order: options.order });
    },

    async row(rowKey, options: RowOptions = {}): Promise<Page<string>> {
      const all = logs.row(parseRowKey(rowKey));
      const columns = options.columns?.map((column, position) => parseColumnName(column, `column[${position}]`));
      return latestOf(all, { columns, after: options.after });
    },

    async batchGet(keys: readonly CellKey[]): Promise<readonly BatchItem[]> {
      return parseBatch(keys, 'keys', parseKey).map((key) => {
        const cell = logs.find(key);
        return cell && { ...cell, ...SERVED };
      });
    },

    async log(locations: readonly Location[], options: LogOptions = {}): Promise<readonly ShardLog[]> {
      const limit = parseLimit(options.limit);
      return parseBatch(
        locations,
        'locations',
        (location, prefix) => parseLocation(location, shards, prefix),
        LIMITS.logCells,
      ).map((location) => readLog(logs.all[location.shard] ?? [], location, limit));
    },

    async query(query: IndexQuery): Promise<IndexAnswer> {
      return referenceQuery(indexes, logs.all.flat(), shards, query);
    },

    async count(query: IndexCount): Promise<IndexCounted> {
      return referenceCount(indexes, logs.all.flat(), shards, query);
    },

    async heads(): Promise<readonly ShardHead[]> {
      return logs.all.map((log, shard) => ({ shard, group: 'memory', head: log.length }));
    },

    digest: async (range) => digestOf(logs, parseDigestRange(range, shards)),
  };
}

function digestOf(
  logs: MemoryLogs,
  { shard, at, after, digest = EMPTY_DIGEST }: ReturnType<typeof parseDigestRange>,
): ShardDigest {
  const log = logs.all[shard] ?? [];
  const cells = log.slice(after, at);
  const reached = after + cells.length;
  const more = reached < (at ?? reached) || log.length < reached;
  return { shard, at: reached, digest: cells.reduce(nextDigest, digest), more, ...SERVED };
}

class MemoryLogs {
  /** By shard; the cell with added id n is at n - 1. */
  readonly all: readonly Cell[][];

  constructor(shards: number) {
    this.all = Array.from({ length: shards }, () => []);
  }

  transact(
    cells: readonly (NewCell & { readonly created_at?: string })[],
    conditions: readonly LatestCondition[],
  ): TransactionResult {
    const [{ row_key } = { row_key: '' }] = cells;
    const shard = this.#shardOf(row_key);
    const there = cells.map((cell) => ({ cell, old: this.find(cell) }));
    const others = there.filter(({ cell, old }) => old && !equalJson(old.body, cell.body));
    if (there.every(({ old }) => old) && others.length === 0)
      return { outcome: 'stored_before', shard, added_ids: there.map(({ old }) => old?.added_id ?? 0) };
    const failed = conditions
      .map(({ column_name, latest: wanted }) => ({ column_name, wanted, latest: this.find({ row_key, column_name }) }))
      .filter(({ wanted, latest }) => (latest?.ref_key ?? null) !== wanted);
    if (failed.length > 0) return { outcome: 'condition_failed', shard, failed };
    if (others.length > 0)
      return {
        outcome: 'conflict',
        shard,
        cells: others.map(({ cell: { column_name, ref_key } }) => ({ column_name, ref_key })),
      };
    const missing = there.filter(({ old }) => !old);
    const size = missing.length;
    const isMarked = size > 1 || conditions.length > 0;
    for (const [
      position,
      {
        cell: { created_at, ...cell },
      },
    ] of missing.entries())
      this.append(cell, created_at, isMarked ? { size, position } : undefined);
    return { outcome: 'stored', shard, added_ids: cells.map((cell) => this.find(cell)?.added_id ?? 0) };
  }

  /** @param desired time of a restored cell, at which it was stored before */
  append(cell: NewCell, desired?: string, transaction?: TransactionPlace): PutResult {
    const shard = this.#shardOf(cell.row_key);
    const old = this.find(cell);
    if (old) {
      const { added_id, created_at } = old;
      if (!equalJson(old.body, cell.body)) return { outcome: 'conflict', shard, added_id };
      return { outcome: 'stored_before', shard, added_id, created_at };
    }
    const log = this.all[shard] ?? [];
    const now = new Date().toISOString().replace('Z', '000Z');
    const time = desired !== undefined && desired < now ? desired : now;
    const last = log.at(-1)?.created_at ?? time;
    const created_at = last > time ? last : time;
    const body = decodeBody(encodeBody(cell.body));
    log.push({ ...cell, body, added_id: log.length + 1, shard, created_at, ...(transaction && { transaction }) });
    return { outcome: 'stored', shard, added_id: log.length, created_at };
  }

  find(key: CellKey): Cell | null {
    const column = this.column(key.row_key, key.column_name);
    return (key.ref_key === undefined ? column.at(-1) : column.find((cell) => cell.ref_key === key.ref_key)) ?? null;
  }

  column(rowKey: string, column: string): readonly Cell[] {
    return this.row(rowKey)
      .filter((cell) => cell.column_name === column)
      .sort((a, b) => a.ref_key - b.ref_key);
  }

  row(rowKey: string): Cell[] {
    return (this.all[this.#shardOf(rowKey)] ?? []).filter((cell) => cell.row_key === rowKey);
  }

  #shardOf(rowKey: string): number {
    return shardOf(rowKey, this.all.length);
  }
}

function versionsOf(
  all: readonly Cell[],
  { limit, after, order }: VersionsOptions & { readonly limit: number },
): Page<number> {
  const ascending = order === 'asc';
  const ordered = ascending ? all : all.toReversed();
  const beyond = ordered.filter(
    (cell) => after === undefined || (ascending ? cell.ref_key > after : cell.ref_key < after),
  );
  const cells = beyond.slice(0, limit);
  return { cells, next: beyond.length > limit ? (cells.at(-1)?.ref_key ?? null) : null, ...SERVED };
}

function latestOf(all: readonly Cell[], { columns, after }: RowOptions): Page<string> {
  const latest = new Map<string, Cell>();
  for (const cell of all) {
    if ((latest.get(cell.column_name)?.ref_key ?? -1) < cell.ref_key) latest.set(cell.column_name, cell);
  }
  const cells = [...latest.values()]
    .filter((cell) => !columns?.length || columns.includes(cell.column_name))
    .filter((cell) => after === undefined || byBytes(cell.column_name, after) > 0)
    .sort((a, b) => byBytes(a.column_name, b.column_name));
  return {
    cells: cells.slice(0, LIMITS.listCells),
    next: cells.length > LIMITS.listCells ? (cells[LIMITS.listCells - 1]?.column_name ?? null) : null,
    ...SERVED,
  };
}

function readLog(log: readonly Cell[], { shard, after, since }: Location, limit: number): ShardLog {
  const from = since === undefined ? (after ?? 0) : log.filter((cell) => cell.created_at < since).length;
  const cells = log.slice(from, from + limit);
  return { shard, cells, next: from + cells.length, more: from + cells.length < log.length, ...SERVED };
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
