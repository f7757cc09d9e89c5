import { logger } from '../environment/log.ts';
import { shown } from './problem.ts';

/**
 * The line in the log for what an operation threw. Details are left out where they can quote the request's body, that
 * is, of all that the caller has to mend.
 */
export function logProblem(thrown: unknown, about: Record<string, unknown>): void {
  const { code, details, message, status } = shown(thrown);
  const facts = { ...about, code, field: details.field };
  if (code === 'cell_not_found' || code === 'conflict') logger.debug('answered', facts);
  else if (status < 500) logger.info('refused', facts);
  else if (code === 'unavailable') logger.warn('failed', { ...facts, detail: message });
  else logger.error('failed', { ...facts, error: thrown });
}
