import { BATCH_GET, BATCH_READ } from '../shared/api/batches.ts';
import { BUFFER_READS } from '../shared/api/buffer.ts';
import { CELL_READS } from '../shared/api/cells.ts';
import { LOG_READS } from '../shared/api/logs.ts';
import { SERVICE } from '../shared/api/service.ts';
import type { Deployment } from '../shared/store/deployment.ts';
import { deployment } from './environment/deployment.ts';
import { answeredBy } from './http/answering.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { GET_MANY } from './http/operations/batch-get.ts';
import { batchOfReads } from './http/operations/batch-of-reads.ts';
import { CONSOLE } from './http/operations/get-console.ts';
import { HEALTH } from './http/operations/get-health.ts';
import { DOCUMENT } from './http/operations/get-open-api.ts';
import { MANAGED_BY_DEPLOYMENT } from './http/operations/managed-by-deployment.ts';
import { CELLS, CELLS_BATCHED } from './http/operations/read-cells.ts';
import { LOGS } from './http/operations/read-log.ts';

export function makeReadHandler(open: () => Deployment): HttpHandler {
  const batchRead = batchOfReads(CELL_READS, CELLS, CELLS_BATCHED);
  const buffer = answeredBy(BUFFER_READS, (over: Deployment, datastore) => over.datastore(datastore));
  return httpHandler(
    { ...CELL_READS, ...BATCH_GET, ...BATCH_READ, ...LOG_READS, ...BUFFER_READS, ...SERVICE },
    { ...CELLS, ...GET_MANY, batchRead, ...LOGS, ...buffer, ...HEALTH, ...DOCUMENT },
    open,
    { ...MANAGED_BY_DEPLOYMENT, ...CONSOLE },
    async (path) => (await import('./http/whole-api.ts')).methodsOf(path),
  );
}

export const handler = makeReadHandler(deployment);
