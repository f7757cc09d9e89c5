import { groupBy } from '../../group-by.ts';
import { setState, updateState, type StateItem, deleteState, readState, readStates } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { changeItem, pack, unpack } from '../../dynamo/change-item.ts';
import { blockOf, consumedKey, statusKey, type TriggerName, emptiedKey } from './trigger-items.ts';

/** A cell up to which a shard is consumed. */
export interface ConsumedLocation {
  readonly generation: number;
  readonly added_id: number;
  /** Of the cell: after a cut another cell has its added id. */
  readonly fingerprint: string;
}

/** How far a shard is known to be consumed. */
export interface ConsumedMark extends ConsumedLocation {
  /** The end of the log at the last rewind: cells up to here are replays. */
  readonly replayed_to: number;
}

/** Returns the new mark of a shard; undefined leaves it as it is. */
type MarkChange = (shard: number, mark: ConsumedMark | undefined) => ConsumedMark | undefined;

/** A trigger's consumed marks: they lag behind what was consumed, never lead. A resend starts there. */
export function consumedMarks(table: DynamoTable, name: TriggerName) {
  /** Lists a page before it is written, so that forgetting the trigger deletes it. */
  async function list(page: number): Promise<void> {
    await updateState(table, {
      key: statusKey(name),
      update: 'ADD #consumed_pages :page',
      values: { ':page': { NS: [String(page)] } },
    });
  }

  async function changePage(
    page: number,
    shards: readonly number[],
    change: MarkChange,
    isListed = false,
  ): Promise<ReadonlyMap<number, ConsumedMark>> {
    const changed = await changeItem(table, consumedKey(name, page), (item) => {
      if (!item && !isListed) return { result: undefined };
      const marks = marksIn(item);
      let hasChanged = false;
      for (const shard of shards) {
        const next = change(shard, marks.get(shard));
        if (next) marks.set(shard, next);
        hasChanged ||= next !== undefined;
      }
      return { result: marks, ...(hasChanged && { values: { marks: { B: pack([...marks]) } } }) };
    });
    if (changed) return changed;
    await list(page);
    return changePage(page, shards, change, true);
  }

  async function change(shards: readonly number[], how: MarkChange): Promise<ReadonlyMap<number, ConsumedMark>> {
    const pages = groupBy(shards, blockOf);
    const changed = await Promise.all([...pages].map(([page, some]) => changePage(page, some, how)));
    return new Map(changed.flatMap((marks) => [...marks]));
  }

  return {
    /** Returns the marks that exist. */
    async read(shards: readonly number[]): Promise<ReadonlyMap<number, ConsumedMark>> {
      const wanted = new Set(shards);
      const items = await readStates(
        table,
        [...new Set(shards.map(blockOf))].map((page) => consumedKey(name, page)),
      );
      return new Map([...items.values()].flatMap((item) => [...marksIn(item)]).filter(([shard]) => wanted.has(shard)));
    },

    change,

    /** Sets marks back that a rewind raised before it was cut off: its offsets never came. */
    async takeBack(offsets: ReadonlyMap<number, ConsumedLocation>): Promise<void> {
      await change([...offsets.keys()], (shard, mark) => {
        const offset = offsets.get(shard);
        if (!mark || !offset || mark.generation <= offset.generation) return undefined;
        const { added_id, fingerprint } = mark.added_id < offset.added_id ? mark : offset;
        return { ...mark, generation: offset.generation, added_id, fingerprint };
      });
    },

    /** Raises marks. Locations of before the last rewind are ignored. */
    async raise(locations: ReadonlyMap<number, ConsumedLocation>): Promise<void> {
      await change([...locations.keys()], (shard, mark) => {
        const location = locations.get(shard);
        return location && isFurther(location, mark) ? { replayed_to: 0, ...mark, ...location } : undefined;
      });
    },
  };
}

/**
 * Returns the offsets whose marks are of a later generation. Their rewind was interrupted, or is under way and will set
 * its marks again at its end. `offsets`: as read after the marks, since a rewind raises the marks first.
 */
export function cutOffRewinds(
  marks: ReadonlyMap<number, ConsumedMark>,
  offsets: readonly (ConsumedLocation | undefined)[],
): ReadonlyMap<number, ConsumedLocation> {
  const cutOff = new Map<number, ConsumedLocation>();
  for (const [shard, { generation }] of marks) {
    const offset = offsets[shard];
    if (offset && generation > offset.generation) cutOff.set(shard, offset);
  }
  return cutOff;
}

export function isFurther(location: ConsumedLocation, than: ConsumedLocation | undefined): boolean {
  return (
    !than ||
    location.generation > than.generation ||
    (location.generation === than.generation && location.added_id > than.added_id)
  );
}

function marksIn(item: StateItem | undefined): Map<number, ConsumedMark> {
  return new Map(unpack<readonly (readonly [shard: number, mark: ConsumedMark])[]>(item?.['marks'], []));
}

/** How far a queue had been sent to when it was found empty. */
export interface EmptiedQueue {
  /** When that was read, by `Date.now()`. */
  readonly at: number;
  /** The trigger's `changed_at` at that time. */
  readonly changed_at: string | undefined;
  /** Of shards where that is further than known to be consumed. */
  readonly sent: readonly (readonly [shard: number, location: ConsumedLocation])[];
}

/** Stores it for the next worker: one lives a minute, and SQS may count later than that. */
export function emptiedQueue(table: DynamoTable, name: TriggerName) {
  const key = emptiedKey(name);
  return {
    read: async (): Promise<EmptiedQueue | undefined> =>
      unpack<EmptiedQueue | undefined>((await readState(table, key))?.['emptied'], undefined),
    async write(emptied: EmptiedQueue): Promise<void> {
      await setState(table, key, { emptied: { B: pack(emptied) } });
    },
    async forget(): Promise<void> {
      await deleteState(table, key);
    },
  };
}
