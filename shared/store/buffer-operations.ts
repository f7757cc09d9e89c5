import { itemError } from '../api/item-error.ts';
import { SchemalessError } from '../errors.ts';
import { discardConflicts } from '../sql/statements/change-buffered.ts';
import { selectBufferStatus, toBufferStatus } from '../sql/statements/select-buffer-status.ts';
import type { StoreContext } from '../access/context.ts';
import type { BufferOperations, GroupBuffer } from '../api/buffer.ts';
import { chooseInDoubt } from './choose-in-doubt.ts';
import { listKept, parseKeptIds } from './kept-writes.ts';
import { onWriter } from '../access/ask-parts.ts';

export function bufferOperations(context: StoreContext, datastore: string): BufferOperations {
  const { groups } = context;
  return {
    async getBuffer() {
      const names = await groups.names();
      const found = await Promise.all(
        names.map((group): Promise<GroupBuffer> =>
          onWriter(groups, group, async (client) => ({
            group,
            ...toBufferStatus(await client.select(selectBufferStatus(datastore), 'writer')),
          })).catch((error: unknown) => {
            if (error instanceof SchemalessError) return { group, error: itemError(error) };
            throw error;
          }),
        ),
      );
      return { groups: found };
    },

    async listBufferConflicts(options = {}) {
      const { writes, next } = await listKept(context, datastore, 'conflict', options);
      return { conflicts: writes, next };
    },

    async discardBufferConflicts({ ids }) {
      const parsed = parseKeptIds(ids, await groups.names());
      const counts = await Promise.all(
        [...Map.groupBy(parsed, ({ group }) => group)].map(async ([group, ofGroup]) => {
          const statement = discardConflicts(
            datastore,
            ofGroup.map(({ id }) => id),
          );
          return (await onWriter(groups, group, (client) => client.change(statement))).affectedRows;
        }),
      );
      return { discarded: counts.reduce((sum, count) => sum + count, 0) };
    },

    async listWritesInDoubt(options = {}) {
      const { writes, next } = await listKept(context, datastore, 'in_doubt', options);
      return { in_doubt: writes, next };
    },

    async keepWritesInDoubt({ ids }) {
      const parsed = parseKeptIds(ids, await groups.names());
      return { kept: await chooseInDoubt(context, datastore, parsed) };
    },
  };
}
