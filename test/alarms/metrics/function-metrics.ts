import type { FunctionStatus } from '../../../infra/local/lambda/function-host.ts';
import type { MetricStore } from './metric-store.ts';

type Counts = Pick<FunctionStatus, 'arn' | 'calls' | 'failed'>;

/**
 * Counts calls of functions, and those that failed, as Lambda would: errors of a call that went well are 0, of a function
 * that nobody calls there is no figure.
 *
 * @returns to be told of the functions now and then
 */
export function functionMetrics(store: Pick<MetricStore, 'add'>): (functions: readonly Counts[], at: number) => void {
  const before = new Map<string, Pick<Counts, 'calls' | 'failed'>>();
  return (functions, at) => {
    for (const { arn, calls, failed } of functions) {
      const known = before.get(arn);
      before.set(arn, { calls, failed });
      if (!known) continue;
      // Another version of it counts anew.
      const isNew = calls < known.calls;
      const [called, errors] = isNew ? [calls, failed] : [calls - known.calls, failed - known.failed];
      const metric = { namespace: 'AWS/Lambda', dimensions: { FunctionName: arn.slice(arn.lastIndexOf(':') + 1) } };
      if (called > 0) store.add({ ...metric, name: 'Invocations' }, at, called);
      if (called > 0 || errors > 0) store.add({ ...metric, name: 'Errors' }, at, errors);
    }
  };
}
