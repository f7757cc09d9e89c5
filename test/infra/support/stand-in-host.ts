import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { FunctionDefinition, FunctionMode } from '../../../infra/local/lambda/function-definition.ts';
import {
  startFunctionHost,
  type FunctionHost,
  type WantedFunctions,
} from '../../../infra/local/lambda/function-host.ts';
import { openFunctionLog, type FunctionLog } from '../../../infra/local/lambda/function-log.ts';
import { STAND_INS } from './synthesized.ts';

export interface StandInHost {
  readonly functions: FunctionHost;
  readonly log: FunctionLog;
  readonly wanted: (greeting: string) => WantedFunctions;
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
  const log = openFunctionLog(join(folder, `${mode}.log`), join(folder, `${mode}-metrics.log`));
  const definition = (title: string, greeting: string): FunctionDefinition => ({
    name: `stack-${title}`,
    title,
    arn: title,
    module,
    roleArn: title,
    exportName: 'handler',
    environment: { GREETING: greeting },
    timeoutMs,
    memoryMb: 256,
  });
  const functions = startFunctionHost({
    mode,
    idleMs,
    services: { AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1' },
    log,
  });
  const wanted = (greeting: string): WantedFunctions => ({
    definitions: [
      definition('shared', greeting),
      definition('alone', greeting),
      { ...definition('broken', greeting), exportName: 'nothing' },
    ],
    atOnce: new Map([['shared', Infinity]]),
  });
  functions.make(wanted('hello')).takeOver();
  return { functions, log, wanted };
}
