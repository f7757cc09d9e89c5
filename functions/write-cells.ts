import type { Deployment } from '../shared/store/deployment.ts';
import { deployment } from './environment/deployment.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { batchPut, batchRestore } from './http/operations/batch-put.ts';
import { discardBufferConflicts, keepUndecidedWrites } from './http/operations/buffer.ts';
import { putCell } from './http/operations/put-cell.ts';

export function makeWriteHandler(deployment: () => Deployment): HttpHandler {
  return httpHandler<'write-cells'>(
    { putCell, batchPut, batchRestore, discardBufferConflicts, keepUndecidedWrites },
    deployment,
  );
}

export const handler = makeWriteHandler(deployment);
