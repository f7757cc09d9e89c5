import type { BufferOperations, GroupBuffer } from '../contract/datastore.ts';
import { toItems } from './answers.ts';
import { answerTo, type Connection } from './calls.ts';

/** Returns the operator's view of the buffer, over HTTP. */
export function bufferCalls(send: Connection): BufferOperations {
  return {
    buffer: async () => toItems<GroupBuffer>((await send({ method: 'GET', path: ['buffer'] })).json['groups']),
    bufferConflicts: ({ limit, after } = {}) =>
      answerTo(send, { method: 'GET', path: ['buffer', 'conflicts'], query: { limit, after } }),
    async discardConflicts(ids) {
      const { json } = await send({ method: 'POST', path: ['buffer', 'conflicts', 'discard'], body: { ids } });
      return Number(json['discarded']);
    },
    undecidedWrites: ({ limit, after } = {}) =>
      answerTo(send, { method: 'GET', path: ['buffer', 'undecided'], query: { limit, after } }),
    async keepUndecided(ids) {
      const { json } = await send({ method: 'POST', path: ['buffer', 'undecided', 'keep'], body: { ids } });
      return Number(json['kept']);
    },
  };
}
