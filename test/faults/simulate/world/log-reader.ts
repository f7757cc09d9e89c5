import type { Cell } from '../../../../shared/cell.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { byItem } from '../../../../shared/sql/cell-rows.ts';
import { SqlError } from '../../../../shared/sql/client.ts';
import { selectLog } from '../../../../shared/sql/statements/select-log.ts';
import { decodeCell } from '../../../../shared/access/decode.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import type { StoreContext } from '../../../../shared/access/context.ts';
import { addressKey } from './chronicle.ts';
import type { Judge } from '../judge.ts';
import { DATASTORE } from '../servers/log-statements.ts';
import type { World } from './world.ts';

/** Reads every log as a client does, from its offset. */
export interface LogReader {
  readOnce(): Promise<void>;
  /** Returns the cells read of a shard, as `added id/address`, in order. */
  seen(shard: number): readonly string[];
}

const PAGE = 7;
const LEAST_ROOM = 1 << 20;

export function logReader(world: World, store: Datastore, context: StoreContext, judge: Judge): LogReader {
  const { random, bug, shards } = world;
  const logs = Array.from({ length: shards }, (_, shard) => ({ shard, next: 0, seen: [] as string[] }));

  async function read(): Promise<readonly Page[]> {
    const locations = logs.map(({ shard, next }) => ({ shard, after: next }));
    if (bug?.stopsAtHoles === false)
      return (await Promise.all(locations.map(({ shard, after }) => carelessly(context, shard, after)))).flat();
    const read = await store.log(locations, { limit: PAGE, read: random.chance(0.5) ? 'writer' : 'reader' });
    return read.flatMap((log) => (log.error ? [] : [log]));
  }

  return {
    seen: (shard) => logs[shard]?.seen ?? [],
    async readOnce() {
      for (const { shard, cells, next } of await read().catch(unlessUnavailable)) {
        const location = logs[shard];
        if (!location) throw new Error(`an answer for shard ${shard}`);
        for (const cell of cells) {
          judge.cell(cell, 'a log');
          location.seen.push(`${cell.added_id}/${addressKey(cell)}`);
        }
        if (bug?.stopsAtHoles !== false && cells.some(({ added_id }, at) => added_id !== location.next + at + 1))
          judge.breaks(
            `a log read after ${location.next} answered ${cells.map(({ added_id }) => added_id).join(', ')}`,
          );
        location.next = next;
      }
    },
  };
}

interface Page {
  readonly shard: number;
  readonly cells: readonly Cell[];
  readonly next: number;
}

function unlessUnavailable(error: unknown): [] {
  if (error instanceof SchemalessError || error instanceof SqlError) return [];
  throw error;
}

/** The planted bug: reads all that a snapshot shows, holes or not. */
async function carelessly({ topology, groups }: StoreContext, shard: number, after: number): Promise<readonly Page[]> {
  const group = (await topology.datastore(DATASTORE))?.homes[shard]?.group;
  if (group === undefined) return [];
  try {
    const client = await groups.client(group);
    const [found] = byItem(
      await client.select(selectLog({ datastore: DATASTORE }, [{ shard, after }], PAGE, LEAST_ROOM), 'writer'),
      1,
    );
    const cells = (found?.cells ?? []).map(decodeCell);
    return [{ shard, cells, next: cells.at(-1)?.added_id ?? after }];
  } catch (error) {
    return unlessUnavailable(error);
  }
}
