import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { FunctionDefinition, FunctionMode } from '../../../infra/local/lambda/function-definition.ts';
import { startFunctionHost, type FunctionHost } from '../../../infra/local/lambda/function-host.ts';
import { openFunctionLog, type FunctionLog } from '../../../infra/local/lambda/function-log.ts';
import { STAND_INS } from './synthesized.ts';

export interface StandInHost {
  readonly functions: FunctionHost;
  readonly log: FunctionLog;
}

/** Two functions, `shared` and `alone`, with the code of the stand-in for read-cells. */
export function startStandIns(folder: string, mode: FunctionMode, timeoutMs = 5000, idleMs = 0): StandInHost {
  const module = join(folder, 'index.mjs');
  buildSync({
    entryPoints: [join(STAND_INS, 'read-cells.ts')],
    outfile: module,
    bundle: true,
    format: 'esm',
    platform: 'node',
  });
  const log = openFunctionLog(join(folder, `${mode}.log`));
  const definition = (title: string): FunctionDefinition => ({
    name: `stack-${title}`,
    title,
    arn: title,
    module,
    exportName: 'handler',
    environment: { GREETING: 'hello' },
    timeoutMs,
    memoryMb: 256,
  });
  const functions = startFunctionHost({
    definitions: [definition('shared'), definition('alone'), { ...definition('broken'), exportName: 'nothing' }],
    mode,
    shared: new Set(['shared']),
    sharedInstances: 1,
    idleMs,
    services: { AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1' },
    log,
  });
  return { functions, log };
}
