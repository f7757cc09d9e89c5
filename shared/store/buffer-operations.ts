import { SchemalessError } from '../errors.ts';
import { discardConflicts } from '../sql/statements/change-buffered.ts';
import { selectBufferStatus, toBufferStatus } from '../sql/statements/select-buffer-status.ts';
import type { StoreContext } from '../access/context.ts';
import type { BufferOperations, GroupBuffer } from '../contract/datastore.ts';
import { keepUndecided } from './keep-undecided.ts';
import { listKept, parseKeptIds } from './kept-writes.ts';
import { toUnavailable } from '../access/ask-parts.ts';

const MOST_DISCARDED = 1000;
/** Each is a statement on every group. */
const MOST_DECIDED = 100;

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

    async bufferConflicts(options = {}) {
      const { writes, next } = await listKept(context, datastore, 'conflict', options);
      return { conflicts: writes, next };
    },

    async discardConflicts(ids) {
      const parsed = parseKeptIds(ids, await context.groups.names(), MOST_DISCARDED);
      const counts = await Promise.all(
        [...Map.groupBy(parsed, ({ group }) => group)].map(async ([group, ofGroup]) => {
          try {
            const client = await context.groups.client(group);
            return (
              await client.change(
                discardConflicts(
                  datastore,
                  ofGroup.map(({ id }) => id),
                ),
              )
            ).affectedRows;
          } catch (error) {
            throw toUnavailable(error, group);
          }
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },

    async undecidedWrites(options = {}) {
      const { writes, next } = await listKept(context, datastore, 'undecided', options);
      return { undecided: writes, next };
    },

    async keepUndecided(ids) {
      return keepUndecided(context, datastore, parseKeptIds(ids, await context.groups.names(), MOST_DECIDED));
    },
  };
}
