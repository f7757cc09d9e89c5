import type { HeldBy, Hold } from '../../../shared/contract/retention-operations.ts';
import type { ErasureManagement } from '../../../shared/erasures/erasure-management.ts';
import { logger } from '../../environment/log.ts';
import { readMembers } from '../members.ts';
import { readLimit, type HttpRequest } from '../request.ts';
import { parseReason } from '../reason.ts';
import type { HttpOperation } from './operation.ts';

type Retention = HttpOperation<ErasureManagement>;

/** GET /retention: the rules, what was erased by them, and the last purge. */
export const getRetention: Retention = async (request, management) => {
  request.query();
  audit('getRetention', request);
  const operations = await management.retention(request.path('datastore'), request.caller);
  return { status: 200, body: { ...(await operations.retention()) } };
};

/** GET /holds: what is held. */
export const listHolds: Retention = async (request, management) => {
  const query = request.query({ once: ['row_key', 'subject', 'limit', 'after'] });
  const options = {
    row_key: query.text('row_key'),
    subject: query.text('subject'),
    limit: readLimit(query),
    after: query.text('after'),
  };
  audit('listHolds', request);
  const operations = await management.retention(request.path('datastore'), request.caller);
  return { status: 200, body: { ...(await operations.holds(options)) } };
};

/** PUT /holds `{hold, row_key or subject, reason}`: holds back from every erasure. */
export const putHold: Retention = async (request, management) => {
  request.query();
  const { reason, ...members } = readMembers(request.json(), ['hold', 'row_key', 'subject', 'reason']);
  const why = parseReason(reason);
  audit('putHold', request);
  const operations = await management.retention(request.path('datastore'), request.caller);
  // What a member may be the operations say.
  const hold = await operations.putHold({ ...(members as unknown as HeldBy), reason: why });
  auditHold('putHold', request, hold);
  return { status: 200, body: { ...hold } };
};

/** DELETE /holds: releases one. */
export const releaseHold: Retention = async (request, management) => {
  const query = request.query({ once: ['hold', 'row_key', 'subject'] });
  const held = { hold: query.text('hold'), row_key: query.text('row_key'), subject: query.text('subject') };
  audit('releaseHold', request);
  const operations = await management.retention(request.path('datastore'), request.caller);
  const hold = await operations.releaseHold(held as HeldBy);
  auditHold('releaseHold', request, hold);
  return { status: 200, body: { ...hold } };
};

/** POST /purge: has the tables written anew, in the background. */
export const purgeSpace: Retention = async (request, management) => {
  request.query();
  audit('purgeSpace', request);
  const operations = await management.retention(request.path('datastore'), request.caller);
  return { status: 202, body: { ...(await operations.purge()) } };
};

/** Who asks for what is in the log, whatever becomes of it. */
function audit(operation: string, { caller }: HttpRequest): void {
  logger.info('retention', { operation, caller });
}

function auditHold(operation: string, { caller }: HttpRequest, { hold, row_key, subject }: Hold): void {
  logger.info('hold', { operation, caller, hold, row_key, subject });
}
