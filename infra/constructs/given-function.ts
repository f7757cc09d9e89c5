import type { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import { batchSeconds, HANDED_BACK_SECONDS } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerQueue } from './trigger-queue.ts';

/** A function has one trigger: its environment and handler name it. */
const CONSUMERS = new WeakMap<LambdaFunction, TriggerQueue>();

/** Lambda's default. */
const LAMBDA_SECONDS = 3;

/**
 * Returns the function that consumes a trigger's queue. Throws an Error that names the function if it cannot. `called`:
 * the function, or a version or an alias of it.
 */
export function consumingFunction(called: IFunction, trigger: TriggerQueue): LambdaFunction {
  const where = `trigger ${trigger.definition.name} of ${trigger.datastore}`;
  const fn = functionBehind(called);
  if (!fn)
    throw new Error(
      `${where}: wanted a function that this app makes, since it needs variables and rights, got the imported ${called.node.path}`,
    );
  const other = CONSUMERS.get(fn);
  if (other)
    throw new Error(
      `${where}: wanted a function of its own, got ${fn.node.path}, which is that of trigger ${other.definition.name} of ${other.datastore}`,
    );
  checkTimeout(where, fn, trigger);
  CONSUMERS.set(fn, trigger);
  return fn;
}

function functionBehind(called: IFunction): LambdaFunction | undefined {
  if ('addEnvironment' in called) return called as LambdaFunction;
  const { lambda } = called as { readonly lambda?: IFunction };
  return lambda && functionBehind(lambda);
}

/** A shorter timeout cuts calls off; a longer one makes messages visible again. */
function checkTimeout(where: string, { timeout, node }: LambdaFunction, { definition }: TriggerQueue): void {
  const { timeoutSeconds } = definition;
  const seconds = (timeout as Duration | undefined)?.toSeconds() ?? LAMBDA_SECONDS;
  const [least, most] = [timeoutSeconds + HANDED_BACK_SECONDS, batchSeconds(definition)];
  if (seconds >= least && seconds <= most) return;
  throw new Error(
    `${where}: wanted a timeout from ${least} to ${most} s of the function ${node.path} (${timeoutSeconds} s for each of up to ten cells, and a minute to count and to hand back), got ${seconds} s`,
  );
}
