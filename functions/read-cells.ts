import type { Deployment } from '../shared/store/deployment.ts';
import { deployment } from './environment/deployment.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { batchGet } from './http/operations/batch-get.ts';
import { batchRead } from './http/operations/batch-read.ts';
import { digestLog } from './http/operations/digest-log.ts';
import { getBuffer, listBufferConflicts, listUndecidedWrites } from './http/operations/buffer.ts';
import { getCell, getLatestCell } from './http/operations/get-cell.ts';
import { CONSOLE } from './http/operations/get-console.ts';
import { getHealth } from './http/operations/get-health.ts';
import { getOpenApi } from './http/operations/get-open-api.ts';
import { getRow } from './http/operations/get-row.ts';
import { listShards } from './http/operations/list-shards.ts';
import { listVersions } from './http/operations/list-versions.ts';
import { readLog, readShardLog } from './http/operations/read-log.ts';

export function makeReadHandler(deployment: () => Deployment): HttpHandler {
  return httpHandler<'read-cells'>(
    {
      getCell,
      getLatestCell,
      listVersions,
      getRow,
      batchGet,
      batchRead,
      readShardLog,
      digestLog,
      readLog,
      listShards,
      getBuffer,
      listBufferConflicts,
      listUndecidedWrites,
      getHealth,
      getOpenApi,
    },
    deployment,
    CONSOLE,
  );
}

export const handler = makeReadHandler(deployment);
