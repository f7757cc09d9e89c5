import { parseDryRun, parseReason, parseRewind } from '../../../shared/triggers/manage/parse-choices.ts';
import type { TriggerManagement } from '../../../shared/triggers/manage/trigger-management.ts';
import { readMembers, refuseMembers } from '../members.ts';
import type { HttpOperation } from './operation.ts';

/** POST /triggers/{trigger}/pause `{reason}`, or without a body. */
export const pauseTrigger: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  const reason = request.hasBody ? parseReason(readMembers(request.json(), ['reason']).reason) : undefined;
  const operations = await management.triggers(request.path('datastore'));
  return { status: 200, body: await operations.pauseTrigger(request.path('trigger'), reason) };
};

/** POST /triggers/{trigger}/resume, without a body or with `{}`. */
export const resumeTrigger: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  refuseMembers(request);
  const operations = await management.triggers(request.path('datastore'));
  return { status: 200, body: await operations.resumeTrigger(request.path('trigger')) };
};

/** POST /triggers/{trigger}/rewind `{to, dry_run}`. */
export const rewindTrigger: HttpOperation<TriggerManagement> = async (request, management) => {
  request.query();
  const members = readMembers(request.json(), ['to', 'dry_run']);
  const [to, dry_run] = [parseRewind(members.to), parseDryRun(members.dry_run)];
  const operations = await management.triggers(request.path('datastore'));
  return { status: 200, body: await operations.rewindTrigger(request.path('trigger'), to, { dry_run }) };
};
