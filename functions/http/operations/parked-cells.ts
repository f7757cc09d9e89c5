import { parseChoice } from '../../../shared/triggers/manage/parse-choices.ts';
import type { TriggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import { readMembers } from '../members.ts';
import type { HttpOperation } from './operation.ts';
import { readLimit } from '../request.ts';

/** GET /triggers/{trigger}/parked: the cells that are parked, and the messages that could not be read. */
export const listParkedCells: HttpOperation<TriggerManagement> = async (request, management) => {
  const query = request.query({ once: ['limit', 'after'] });
  const options = { limit: readLimit(query), after: query.text('after') };
  const operations = await management.triggers(request.path('datastore'));
  return { status: 200, body: await operations.parkedCells(request.path('trigger'), options) };
};

/** POST /triggers/{trigger}/parked/retry `{cells}`: has parked cells sent again soon. */
export const retryParkedCells: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  const cells = parseChoice(readMembers(request.json(), ['cells']).cells);
  const operations = await management.triggers(request.path('datastore'));
  const { count, not_parked } = await operations.retryParked(request.path('trigger'), cells);
  return { status: 200, body: { wanted: count, not_parked } };
};

/** POST /triggers/{trigger}/parked/discard `{cells}`: forgets parked cells for good. */
export const discardParkedCells: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  const cells = parseChoice(readMembers(request.json(), ['cells']).cells);
  const operations = await management.triggers(request.path('datastore'));
  const { count, not_parked } = await operations.discardParked(request.path('trigger'), cells);
  return { status: 200, body: { discarded: count, not_parked } };
};
