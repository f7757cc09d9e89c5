import type { ErasureManagement } from '../../../shared/erasures/erasure-management.ts';
import { logger } from '../../environment/log.ts';
import { readMembers } from '../members.ts';
import { readLimit, type HttpRequest } from '../request.ts';
import { parseReason } from '../reason.ts';
import type { HttpOperation } from './operation.ts';

type Erasures = HttpOperation<ErasureManagement>;

/** POST /erasures `{row_key, column_name, ref_key, up_to, reason}`: erases, and answers the record. */
export const eraseCells: Erasures = async (request, management) => {
  request.query();
  const members = readMembers(request.json(), ['row_key', 'column_name', 'ref_key', 'up_to', 'reason']);
  const reason = parseReason(members.reason);
  audit('eraseCells', request);
  const operations = await management.erasures(request.path('datastore'), request.caller);
  // What a member may be the operations say: they refuse what is none.
  const target = members as unknown as { readonly row_key: string };
  const erasure = await operations.erase({ ...target, reason });
  const { id, scope, shard, state, cells } = erasure;
  logger.info('erasure', { operation: 'eraseCells', caller: request.caller, id, scope, shard, state, cells });
  return { status: erasure.state === 'erased' ? 200 : 202, body: { ...erasure } };
};

/** GET /erasures: the records. */
export const listErasures: Erasures = async (request, management) => {
  const query = request.query({ once: ['open', 'limit', 'after'] });
  const open = query.choice('open', ['true', 'false']) === 'true';
  const options = { open, limit: readLimit(query), after: query.text('after') };
  audit('listErasures', request);
  const operations = await management.erasures(request.path('datastore'), request.caller);
  return { status: 200, body: { ...(await operations.erasures(options)) } };
};

/** GET /erasures/{erasure}: one record. */
export const getErasure: Erasures = async (request, management) => {
  request.query();
  audit('getErasure', request);
  const operations = await management.erasures(request.path('datastore'), request.caller);
  return { status: 200, body: { ...(await operations.erasure(request.path('erasure'))) } };
};

/** GET /retention: the rules, and what was erased by them. */
export const getRetention: Erasures = async (request, management) => {
  request.query();
  audit('getRetention', request);
  const operations = await management.erasures(request.path('datastore'), request.caller);
  return { status: 200, body: { ...(await operations.retention()) } };
};

/** Who asks for what is in the log, whatever becomes of it. */
function audit(operation: string, { caller }: HttpRequest): void {
  logger.info('erasure', { operation, caller });
}
