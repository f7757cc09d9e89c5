import type { SubjectManagement } from '../../../shared/sealed/subject-management.ts';
import type { Json } from '../../../shared/cell.ts';
import { logger } from '../../environment/log.ts';
import { readMembers } from '../members.ts';
import { readLimit } from '../request.ts';
import { parseReason } from '../reason.ts';
import type { HttpOperation } from './operation.ts';

type Subjects = HttpOperation<SubjectManagement>;

/** POST /subjects/forget `{subject, subject_name, reason}`: forgets, and answers the record. No log says who it was. */
export const forgetSubject: Subjects = async (request, management) => {
  request.query();
  const { caller } = request;
  const { subject, subject_name, reason } = readMembers(request.json(), ['subject', 'subject_name', 'reason']);
  const why = parseReason(reason);
  logger.info('forgetting', { operation: 'forgetSubject', caller });
  const operations = await management.subjects(request.path('datastore'), caller);
  const record = await operations.forget({
    ...(subject !== undefined && { subject: asText(subject) }),
    ...(subject_name !== undefined && { subject_name: asText(subject_name) }),
    reason: why,
  });
  const { forgotten_at } = record;
  logger.info('forgetting', { operation: 'forgetSubject', caller, subject_name: record.subject_name, forgotten_at });
  return { status: 200, body: { ...record } };
};

/** GET /erasures/subjects: the records. */
export const listForgotten: Subjects = async (request, management) => {
  const query = request.query({ once: ['limit', 'after'] });
  const options = { limit: readLimit(query), after: query.text('after') };
  logger.info('forgetting', { operation: 'listForgotten', caller: request.caller });
  const operations = await management.subjects(request.path('datastore'), request.caller);
  return { status: 200, body: { ...(await operations.forgotten(options)) } };
};

/** What a member may be the operations say: they refuse what is none, and do not say what it was. */
const asText = (value: Json): string => value as string;
