import type { Deployment } from '../shared/store/deployment.ts';
import { deployment } from './environment/deployment.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { batchQuery } from './http/operations/batch-query.ts';
import { listIndexes } from './http/operations/list-indexes.ts';
import { queryIndex, countEntries } from './http/operations/query-index.ts';

export function makeQueryHandler(deployment: () => Deployment): HttpHandler {
  return httpHandler<'query-index'>({ listIndexes, queryIndex, countEntries, batchQuery }, deployment);
}

export const handler = makeQueryHandler(deployment);
