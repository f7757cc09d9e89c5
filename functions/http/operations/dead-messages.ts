import type { TriggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import { refuseMembers } from '../members.ts';
import type { HttpOperation } from './operation.ts';
import { readLimit } from '../request.ts';

/** GET /triggers/{trigger}/dead: the messages that SQS gave up on, as far as it shows them. */
export const listDeadMessages: HttpOperation<TriggerManagement> = async (request, management) => {
  const query = request.query({ once: ['limit'] });
  const operations = await management.triggers(request.path('datastore'));
  return { status: 200, body: await operations.deadMessages(request.path('trigger'), { limit: readLimit(query) }) };
};

/** POST /triggers/{trigger}/dead/replay: parks the cells of all of them, to be sent again soon. */
export const replayDeadMessages: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  refuseMembers(request);
  const operations = await management.triggers(request.path('datastore'));
  const { count, left } = await operations.replayDead(request.path('trigger'));
  return { status: 200, body: { replayed: count, left } };
};

/** POST /triggers/{trigger}/dead/discard: deletes all of them. */
export const discardDeadMessages: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  refuseMembers(request);
  const operations = await management.triggers(request.path('datastore'));
  const { count, left } = await operations.discardDead(request.path('trigger'));
  return { status: 200, body: { discarded: count, left } };
};
