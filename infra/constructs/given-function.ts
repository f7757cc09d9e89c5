import type { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import { batchSeconds, HANDED_BACK_SECONDS } from '../../shared/triggers/state/queue-limits.ts';
import type { TriggerQueue } from './trigger-queue.ts';

/** Who consumes what: a function's environment names one datastore, its handler one trigger. */
const CONSUMERS = new WeakMap<LambdaFunction, TriggerQueue>();

/** What Lambda gives a function that says nothing. */
const LAMBDA_SECONDS = 3;

/**
 * The function of somebody's own that is to consume a trigger's queue, where it can.
 *
 * @param called the function, or a version or an alias of it
 * @throws an Error that names the function, what was wanted and what came
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
  // Of an alias or a version.
  const { lambda } = called as { readonly lambda?: IFunction };
  return lambda && functionBehind(lambda);
}

/** Too short, it would be ended in the midst of a call; too long, its messages would be seen again meanwhile. */
function checkTimeout(where: string, { timeout, node }: LambdaFunction, { definition }: TriggerQueue): void {
  const { timeoutSeconds } = definition;
  const seconds = (timeout as Duration | undefined)?.toSeconds() ?? LAMBDA_SECONDS;
  const [least, most] = [timeoutSeconds + HANDED_BACK_SECONDS, batchSeconds(definition)];
  if (seconds >= least && seconds <= most) return;
  throw new Error(
    `${where}: wanted a timeout from ${least} to ${most} s of the function ${node.path} (${timeoutSeconds} s for each of up to ten cells, and a minute to count and to hand back), got ${seconds} s`,
  );
}
