import { BATCH_QUERY } from '../shared/api/batches.ts';
import { INDEX_LISTS, QUERIES } from '../shared/api/indexes.ts';
import type { Deployment } from '../shared/store/deployment.ts';
import { deployment } from './environment/deployment.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { batchOfReads } from './http/operations/batch-of-reads.ts';
import { INDEXES } from './http/operations/query-index.ts';

export function makeQueryHandler(open: () => Deployment): HttpHandler {
  const batchQuery = batchOfReads({ queryIndex: QUERIES.queryIndex }, { queryIndex: INDEXES.queryIndex });
  return httpHandler({ ...INDEX_LISTS, ...QUERIES, ...BATCH_QUERY }, { ...INDEXES, batchQuery }, open);
}

export const handler = makeQueryHandler(deployment);
