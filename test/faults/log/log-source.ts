import type { Role } from '../../../shared/cell.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { markOf } from '../load/mark.ts';
import { PLAIN, type PlainAccess } from '../load/plain-tables.ts';
import { groupClient, openStore, type StoreAccess } from '../../support/store-access.ts';
import { HoleWatch } from './hole-watch.ts';

/** What log readers read: the store's logs, or, for the control, plain tables with a reader that steps over holes. */
export type LogAccess =
  | { readonly kind: 'store'; readonly access: StoreAccess }
  | { readonly kind: 'plain'; readonly access: PlainAccess };

export interface LogCell {
  readonly shard: number;
  readonly added_id: number;
  readonly mark: number;
  readonly created_at: string;
}

export interface LogSource extends AsyncDisposable {
  /** The next cells after each shard's id. */
  next(after: readonly number[]): Promise<LogPage>;
  readonly holes: HoleWatch;
}

export interface LogPage {
  readonly cells: readonly LogCell[];
  /** Where each shard is to be read on. */
  readonly after: readonly number[];
  /** Shards that were not answered. */
  readonly failures: number;
  /** Who answered. */
  readonly role: Role;
}

const LIMIT = 500;

export async function openLogSource(log: LogAccess, read: Role): Promise<LogSource> {
  return log.kind === 'store' ? await storeLogs(log.access, read) : plainLogs(log.access, read);
}

async function storeLogs(access: StoreAccess, read: Role): Promise<LogSource> {
  const holes = new HoleWatch();
  const store = await openStore(access, { connections: 2, wrap: (client) => holes.watch(client) });
  return {
    holes,
    async next(after) {
      const logs = await store.datastore.log(
        after.map((id, shard) => ({ shard, after: id })),
        { limit: LIMIT, read },
      );
      const read_ = logs.flatMap((log) => (log.error ? [] : log.cells));
      return {
        cells: read_.map((cell) => ({
          shard: cell.shard,
          added_id: cell.added_id,
          created_at: cell.created_at,
          mark: markOf(cell),
        })),
        after: logs.map((log, place) => (log.error ? (after[place] ?? 0) : log.next)),
        failures: logs.filter(({ error }) => error !== undefined).length,
        role: logs.every((log) => log.error === undefined && log.served_by === 'reader') ? 'reader' : 'writer',
      };
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Ids alone: a reader that has to decode bodies comes round less often, and skips less. */
function plainLogs({ group }: PlainAccess, read: Role): LogSource {
  const client = groupClient([group], group.name, { connections: 2 });
  return {
    holes: new HoleWatch(),
    async next(after) {
      const selects = after.map(
        (_, shard) =>
          `(SELECT ${shard}, added_id FROM ${entityTable(PLAIN, shard)} WHERE added_id > ? ORDER BY added_id LIMIT ${LIMIT})`,
      );
      const rows = await client.select({ sql: selects.join(' UNION ALL '), parameters: after }, read);
      const cells = rows.map(([shard, id]) => ({
        shard: toNumber(shard),
        added_id: toNumber(id),
        created_at: '',
        mark: 0,
      }));
      return {
        cells,
        after: after.map((id, shard) =>
          Math.max(id, ...cells.filter((cell) => cell.shard === shard).map(({ added_id }) => added_id)),
        ),
        failures: 0,
        role: read,
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
