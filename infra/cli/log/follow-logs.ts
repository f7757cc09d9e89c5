import { LIMITS, type Cell, type Location, type Role } from '../../../shared/cell.ts';
import type { Datastore, ShardLog } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { pauseFor } from '../../../shared/pause-for.ts';
import { slicesOf } from '../../../shared/slices-of.ts';

interface FollowOptions {
  readonly locations: ReadonlyMap<number, Location>;
  /** Continues at the ends of the logs. False: ends after each log was read to its end. */
  readonly follow: boolean;
  readonly read: Role | undefined;
  readonly signal: AbortSignal;
  /** Called once when a shard, or all of them, become unreadable, and once when readable again (undefined). */
  readonly trouble: (what: number | 'all', error: SchemalessError | undefined) => void;
}

/** Cells of one shard, in order, without a hole after the earlier ones. */
export interface LogPage {
  readonly shard: number;
  readonly cells: readonly Cell[];
  readonly next: number;
}

/** The pauses at the ends of the logs, which grow while nothing comes. */
const [SHORTEST_MS, LONGEST_MS] = [50, 1000];
/** The most rounds without an answer of a shard, if `follow` is false. */
const PATIENCE = 5;

/** Follows many logs; an unreadable shard delays no other. Throws its error if `follow` is false. */
export async function* followLogs(
  client: Pick<Datastore, 'log'>,
  { locations, follow, read, signal, trouble }: FollowOptions,
): AsyncGenerator<LogPage> {
  const reached = new Map(locations);
  const failed = new Map<number, { readonly error: SchemalessError; readonly rounds: number }>();
  let [pauseMs, isUnavailable] = [SHORTEST_MS, false];
  while (reached.size > 0 && !signal.aborted) {
    let came = false;
    for (const some of slicesOf([...reached.values()], LIMITS.logCells)) {
      for (const log of await ask(some)) {
        const page = take(log);
        if (page === undefined) continue;
        came ||= page.cells.length > 0;
        yield page;
        if (signal.aborted) return;
      }
    }
    if (came) pauseMs = SHORTEST_MS;
    else if (reached.size > 0) {
      await pauseFor(pauseMs, signal);
      pauseMs = Math.min(LONGEST_MS, pauseMs * 2);
    }
  }
  const [first] = failed.values();
  if (first && !signal.aborted) throw first.error;

  /** Tolerates an API that is unavailable for a while, if it follows. */
  async function ask(some: readonly Location[]): Promise<readonly ShardLog[]> {
    try {
      const logs = await client.log(some, { limit: LIMITS.logCells, read });
      if (isUnavailable) trouble('all', undefined);
      isUnavailable = false;
      return logs;
    } catch (error) {
      // A request that the signal aborted is no error.
      if (signal.aborted) return [];
      if (!follow || !(error instanceof SchemalessError) || error.retry !== 'later') throw error;
      if (!isUnavailable) trouble('all', error);
      isUnavailable = true;
      return [];
    }
  }

  function take(log: ShardLog): LogPage | undefined {
    const { shard } = log;
    if (!('cells' in log)) {
      const rounds = (failed.get(shard)?.rounds ?? 0) + 1;
      if (rounds === 1) trouble(shard, log.error);
      failed.set(shard, { error: log.error, rounds });
      if (!follow && rounds >= PATIENCE) reached.delete(shard);
      return undefined;
    }
    if (failed.delete(shard)) trouble(shard, undefined);
    reached.set(shard, { shard, after: log.next });
    // A hole, or an answer without room, is not the end.
    if (!follow && !log.more) reached.delete(shard);
    return { shard, cells: log.cells, next: log.next };
  }
}
