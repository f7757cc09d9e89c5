import type { BufferOperations, GroupBuffer } from '../contract/datastore.ts';
import { toItems } from './answers.ts';
import type { Connection } from './calls.ts';

export function bufferCalls(send: Connection): BufferOperations {
  return {
    async buffer() {
      return toItems<GroupBuffer>((await send({ method: 'GET', path: ['buffer'] })).json['groups']);
    },
    async bufferConflicts({ limit, after } = {}) {
      const { json } = await send({ method: 'GET', path: ['buffer', 'conflicts'], query: { limit, after } });
      return json as unknown as Awaited<ReturnType<BufferOperations['bufferConflicts']>>;
    },
    async discardConflicts(ids) {
      return Number(
        (await send({ method: 'POST', path: ['buffer', 'conflicts', 'discard'], body: { ids } })).json['discarded'],
      );
    },
    async undecidedWrites({ limit, after } = {}) {
      const { json } = await send({ method: 'GET', path: ['buffer', 'undecided'], query: { limit, after } });
      return json as unknown as Awaited<ReturnType<BufferOperations['undecidedWrites']>>;
    },
    async keepUndecided(ids) {
      return Number(
        (await send({ method: 'POST', path: ['buffer', 'undecided', 'keep'], body: { ids } })).json['kept'],
      );
    },
  };
}
