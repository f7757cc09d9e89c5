import { readStates, setState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { slicesOf } from '../../slices-of.ts';

/** A shard whose log is to be read again for a group that was unavailable. */
export interface PendingShard {
  readonly shard: number;
  /** The lowest added id whose row's entry may be missing. */
  readonly from: number;
  /** Grows with each mark: only the last mark seen can be cleared. */
  readonly marks: number;
}

const MARKS_A_WRITE = 25;
/** Shards of one item: a mark costs write units for the whole item, 12 KB at most. */
const SHARDS_OF_AN_ITEM = 256;

function blockOf(shard: number): number {
  return Math.floor(shard / SHARDS_OF_AN_ITEM);
}

export type PendingMarks = ReturnType<typeof pendingMarks>;

/** Entries that each group lacks: items `pending#trips#group-2#0`, set before the repair's offset moves. */
export function pendingMarks(table: DynamoTable, datastore: string) {
  const itemOf = (group: string, block: number): string => `pending#${datastore}#${group}#${block}`;
  const keyOf = (group: string, shard: number): string => itemOf(group, blockOf(shard));

  return {
    async mark(group: string, lowest: ReadonlyMap<number, number>): Promise<void> {
      for (const page of pagesOf(lowest)) {
        const key = keyOf(group, page[0]?.[0] ?? 0);
        const item = await updateState(table, {
          key,
          update: `SET ${page.map(([shard]) => `#from${shard} = if_not_exists(#from${shard}, :from${shard})`).join(', ')} ADD ${page.map(([shard]) => `#marks${shard} :one`).join(', ')}`,
          values: {
            ':one': { N: '1' },
            ...Object.fromEntries(page.map(([shard, id]) => [`:from${shard}`, { N: String(id) }])),
          },
        });
        // After its log was cut a shard is followed from before its mark.
        for (const [shard, id] of page.filter(([shard, id]) => Number(item?.[`from${shard}`]?.N) > id)) {
          await updateState(table, {
            key,
            update: `SET #from${shard} = :id ADD #marks${shard} :one`,
            condition: `attribute_not_exists(#from${shard}) OR #from${shard} > :id`,
            values: { ':id': { N: String(id) }, ':one': { N: '1' } },
          });
        }
      }
    },

    async read(groups: readonly string[], shards: number): Promise<(PendingShard & { readonly group: string })[]> {
      const blocks = Array.from({ length: blockOf(shards - 1) + 1 }, (_, block) => block);
      const keys = groups.flatMap((group) => blocks.map((block) => ({ group, key: itemOf(group, block) })));
      const items = await readStates(
        table,
        keys.map(({ key }) => key),
      );
      return keys.flatMap(({ group, key }) => {
        const item = items.get(key) ?? {};
        return Object.entries(item).flatMap(([attribute, value]) => {
          const [, shard] = /^from(\d+)$/u.exec(attribute) ?? [];
          return shard === undefined
            ? []
            : [{ group, shard: Number(shard), from: Number(value.N), marks: Number(item[`marks${shard}`]?.N ?? 0) }];
        });
      });
    },

    /** Moves a mark forward, unless it was lowered since. */
    async advance(group: string, { shard, from }: PendingShard, to: number): Promise<boolean> {
      const name = `from${shard}`;
      const only = { condition: `#${name} = :seen`, values: { ':seen': { N: String(from) } } };
      const item = await setState(table, keyOf(group, shard), { [name]: { N: String(to) } }, only);
      return item !== undefined;
    },

    async clear(group: string, { shard, from, marks }: PendingShard): Promise<boolean> {
      const item = await updateState(table, {
        key: keyOf(group, shard),
        update: `REMOVE #from${shard}, #marks${shard}`,
        condition: `#from${shard} = :from AND #marks${shard} = :marks`,
        values: { ':from': { N: String(from) }, ':marks': { N: String(marks) } },
      });
      return item !== undefined;
    },
  };
}

function pagesOf(lowest: ReadonlyMap<number, number>): (readonly (readonly [number, number])[])[] {
  return [...Map.groupBy(lowest, ([shard]) => blockOf(shard)).values()].flatMap((ofBlock) =>
    slicesOf(ofBlock, MARKS_A_WRITE),
  );
}
