import { join } from 'node:path';
import type { LocalStackOptions } from '../../infra/local/stack/local-stack-options.ts';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../infra/local/stack/running-stack.ts';
import type { RunWorld } from '../support/run-world.ts';
import { firstLine, FirstRequests, type FirstAnswers } from './first-requests.ts';

/** A whole local stack in this process, with functions that were asked before. */
export interface StackInUse extends AsyncDisposable {
  readonly name: string;
  readonly stack: LocalStack;
  readonly requests: FirstRequests;
  /** What came of the first requests after something was done to it. @param circuitsBefore see `FirstRequests` */
  ask(what: string, circuitsBefore?: number): Promise<FirstAnswers>;
}

const SHARDS = 24;
/** Instances that were let go meanwhile would have nothing to remember wrongly. */
const FUNCTION_IDLE_SECONDS = 3600;

export async function startInUse(
  { folder, engine, say }: RunWorld,
  name: string,
  options: Partial<LocalStackOptions>,
): Promise<StackInUse> {
  await using parts = new AsyncDisposableStack();
  const stack = await startLocalStack({
    data: join(folder, name),
    port: 0,
    shards: SHARDS,
    engine,
    serverSize: 'full',
    functionIdleSeconds: FUNCTION_IDLE_SECONDS,
    ...options,
  });
  parts.defer(() => stack.stop());
  const requests = new FirstRequests(stack.url, stack.functionLog);
  await requests.warmUp();
  const kept = parts.move();
  return {
    name,
    stack,
    requests,
    async ask(what, circuitsBefore) {
      const answers = await requests.send(circuitsBefore);
      say(`${name}${what}: ${firstLine(answers)}`);
      return answers;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
