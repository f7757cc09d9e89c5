import { decodeBody } from '../body/codec.ts';
import type { Json } from '../cell.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { SqlError } from '../sql/client.ts';
import { discardConflicts } from '../sql/statements/change-buffered.ts';
import { selectConflicts, toBufferRow } from '../sql/statements/select-buffered.ts';
import { selectBufferStatus, toBufferStatus } from '../sql/statements/select-buffer-status.ts';
import { groupBy, type StoreContext } from './context.ts';
import type { BufferConflict, BufferOperations, GroupBuffer } from './datastore.ts';
import { parseLimit } from './parse.ts';
import { pageBytes, toUnavailable } from './read-group.ts';

/** What operators see, and may discard, of the buffer tables: all groups side by side. */
export function bufferOperations(context: StoreContext, datastore: string): BufferOperations {
  return {
    async buffer() {
      const names = await context.groups.names();
      return Promise.all(
        names.map(async (group): Promise<GroupBuffer> => {
          try {
            const client = await context.groups.client(group);
            return { group, ...toBufferStatus(await client.select(selectBufferStatus(datastore), 'writer')) };
          } catch (error) {
            const sorted = toUnavailable(error, group);
            if (sorted instanceof SchemalessError) return { group, error: sorted };
            throw sorted;
          }
        }),
      );
    },

    /** Group by group, so that a page needs few of them; a group that is down is an error, not a gap. */
    async bufferConflicts(options = {}) {
      const limit = parseLimit(options.limit);
      const start = options.after === undefined ? undefined : parseConflictId(options.after, 'after');
      const names = [...(await context.groups.names())].sort();
      const conflicts: BufferConflict[] = [];
      for (const group of names) {
        if (start && group < start.group) continue;
        const room = limit + 1 - conflicts.length;
        if (room <= 0) break;
        try {
          const client = await context.groups.client(group);
          const rows = (await client.select(selectConflicts(datastore, start?.group === group ? start.id : 0, room, pageBytes(client)), 'writer')).map(toBufferRow);
          conflicts.push(...rows.map((row) => toConflict(group, row)));
          // What was cut by its bytes goes on with the next page, in the same group.
          const bytes = rows.reduce((sum, { body }) => sum + body.length, 0);
          if (rows.length < room && bytes >= pageBytes(client)) return { conflicts, next: conflicts.at(-1)?.id ?? null };
        } catch (error) {
          throw error instanceof SqlError ? toUnavailable(error, group) : error;
        }
      }
      const page = conflicts.slice(0, limit);
      return { conflicts: page, next: conflicts.length > limit ? (page.at(-1)?.id ?? null) : null };
    },

    async discardConflicts(ids) {
      if (!Array.isArray(ids) || ids.length === 0 || ids.length > 1000) throw invalidField('ids', 'an array of 1 to 1000 ids', ids);
      const parsed = ids.map((id: string, place) => parseConflictId(id, `ids[${place}]`));
      const names = await context.groups.names();
      for (const [place, { group }] of parsed.entries()) {
        if (!names.includes(group)) throw invalidField(`ids[${place}]`, `an id of one of the groups ${names.join(', ')}`, ids[place]);
      }
      const counts = await Promise.all(
        [...groupBy(parsed, ({ group }) => group)].map(async ([group, ofGroup]) => {
          try {
            const client = await context.groups.client(group);
            return (await client.change(discardConflicts(datastore, ofGroup.map(({ id }) => id)))).affectedRows;
          } catch (error) {
            throw toUnavailable(error, group);
          }
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

function toConflict(group: string, row: ReturnType<typeof toBufferRow>): BufferConflict {
  const { id, row_key, column_name, ref_key, shard, created_at } = row;
  let body: Json;
  try {
    body = decodeBody(row.body);
  } catch {
    body = null;
  }
  return { id: `${group}/${id}`, row_key, column_name, ref_key, body, shard, created_at };
}

function parseConflictId(value: unknown, field: string): { readonly group: string; readonly id: number } {
  const [, group, digits] = /^([^/]{1,64})\/(\d{1,15})$/.exec(typeof value === 'string' ? value : '') ?? [];
  if (group === undefined || digits === undefined) throw invalidField(field, 'an id like group-1/17', value);
  return { group, id: Number(digits) };
}
