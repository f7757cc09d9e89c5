import type { TriggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import type { HttpOperation } from './operation.ts';
import { readLimit } from '../request.ts';

/** GET /triggers: every trigger with its definition, state, lag and parked cells. */
export const listTriggers: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  const operations = await management.triggers(request.path('datastore'));
  return { status: 200, body: { triggers: await operations.triggers() } };
};

/** GET /triggers/{trigger}: one of them, and how far it is with its shards, a page of them. */
export const getTrigger: HttpOperation<TriggerManagement> = async (request, management) => {
  const query = request.query({ once: ['limit', 'after'] });
  const options = { limit: readLimit(query), after: query.integer('after', 0, Number.MAX_SAFE_INTEGER) };
  const operations = await management.triggers(request.path('datastore'));
  return { status: 200, body: await operations.trigger(request.path('trigger'), options) };
};
