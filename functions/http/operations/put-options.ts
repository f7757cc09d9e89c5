import type { PutOptions } from '../../../shared/contract/datastore.ts';
import type { HttpRequest } from '../request.ts';

/** What a write says beside its cells: `?with=created_at`. */
export function readPutOptions(request: HttpRequest): PutOptions {
  return { with: request.query({ once: ['with'] }).choice('with', ['created_at']) };
}
