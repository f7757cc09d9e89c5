import { SchemalessError } from '../errors.ts';
import { discardConflicts } from '../sql/statements/change-buffered.ts';
import { selectBufferStatus, toBufferStatus } from '../sql/statements/select-buffer-status.ts';
import type { StoreContext } from '../access/context.ts';
import type { BufferOperations, GroupBuffer } from '../contract/datastore.ts';
import { keepUndecided } from './keep-undecided.ts';
import { listKept, parseKeptIds } from './kept-writes.ts';
import { onWriter } from '../access/ask-parts.ts';

const MOST_DISCARDED = 1000;
/** Each is a statement on every group. */
const MOST_DECIDED = 100;

export function bufferOperations(context: StoreContext, datastore: string): BufferOperations {
  const { groups } = context;
  return {
    async buffer() {
      const names = await groups.names();
      return Promise.all(
        names.map((group): Promise<GroupBuffer> =>
          onWriter(groups, group, async (client) => ({
            group,
            ...toBufferStatus(await client.select(selectBufferStatus(datastore), 'writer')),
          })).catch((error: unknown) => {
            if (error instanceof SchemalessError) return { group, error };
            throw error;
          }),
        ),
      );
    },

    async bufferConflicts(options = {}) {
      const { writes, next } = await listKept(context, datastore, 'conflict', options);
      return { conflicts: writes, next };
    },

    async discardConflicts(ids) {
      const parsed = parseKeptIds(ids, await groups.names(), MOST_DISCARDED);
      const counts = await Promise.all(
        [...Map.groupBy(parsed, ({ group }) => group)].map(async ([group, ofGroup]) => {
          const statement = discardConflicts(
            datastore,
            ofGroup.map(({ id }) => id),
          );
          return (await onWriter(groups, group, (client) => client.change(statement))).affectedRows;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },

    async undecidedWrites(options = {}) {
      const { writes, next } = await listKept(context, datastore, 'undecided', options);
      return { undecided: writes, next };
    },

    async keepUndecided(ids) {
      return keepUndecided(context, datastore, parseKeptIds(ids, await groups.names(), MOST_DECIDED));
    },
  };
}
