import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { parseLogLine, type LogLine } from '../../../infra/local/control/read-logs.ts';
import type { FunctionStatus } from '../../../infra/local/lambda/function-host.ts';
import type { MetricStore } from './metric-store.ts';

type Store = Pick<MetricStore, 'add'>;
type Counts = Pick<FunctionStatus, 'arn' | 'calls' | 'failed'>;

/** Counts as Lambda does: a call that succeeds gives 0 errors, a function without calls gives no value. */
export function functionMetrics(store: Store): (functions: readonly Counts[], at: number) => void {
  const before = new Map<string, Pick<Counts, 'calls' | 'failed'>>();
  return (functions, at) => {
    for (const { arn, calls, failed } of functions) {
      const known = before.get(arn);
      before.set(arn, { calls, failed });
      if (!known) continue;
      const isNew = calls < known.calls;
      const [called, errors] = isNew ? [calls, failed] : [calls - known.calls, failed - known.failed];
      const metric = { namespace: 'AWS/Lambda', dimensions: { FunctionName: arn.slice(arn.lastIndexOf(':') + 1) } };
      if (called > 0) store.add({ ...metric, name: 'Invocations' }, at, called);
      if (called > 0 || errors > 0) store.add({ ...metric, name: 'Errors' }, at, errors);
    }
  };
}

/** A line of metrics in CloudWatch's embedded metric format. */
interface Embedded {
  readonly Timestamp: number;
  readonly CloudWatchMetrics: readonly {
    readonly Namespace: string;
    readonly Dimensions: readonly (readonly string[])[];
    readonly Metrics: readonly { readonly Name: string }[];
  }[];
}

export function takeMetrics(store: Store, { fields }: Pick<LogLine, 'fields'>): void {
  if (!('_aws' in fields)) return;
  const { Timestamp, CloudWatchMetrics } = fields['_aws'] as Embedded;
  for (const { Namespace: namespace, Dimensions, Metrics } of CloudWatchMetrics)
    for (const names of Dimensions) {
      const dimensions = Object.fromEntries(names.map((name) => [name, String(fields[name])]));
      for (const { Name: name } of Metrics)
        store.add({ namespace, name, dimensions }, Timestamp, ...[fields[name]].flat().map(Number));
    }
}

/** Counts a request to the HTTP API, as API Gateway would: its log has a line for each. */
export function takeRequest(store: Store, apiId: string, { time, fields }: LogLine): void {
  const { status, milliseconds } = fields;
  if (typeof status !== 'number' || typeof milliseconds !== 'number') return;
  const metric = { namespace: 'AWS/ApiGateway', dimensions: { ApiId: apiId } };
  const at = Date.parse(time);
  store.add({ ...metric, name: 'Count' }, at, 1);
  store.add({ ...metric, name: '5xx' }, at, status >= 500 ? 1 : 0);
  store.add({ ...metric, name: 'Latency' }, at, milliseconds);
}

/** Returns a function that gives the lines of a log that came since its last call. The log may not exist yet. */
export function logLines(path: string): () => readonly LogLine[] {
  let at = 0;
  let rest = '';
  return () => {
    if (!existsSync(path)) return [];
    const bytes = Buffer.alloc(statSync(path).size - at);
    const file = openSync(path, 'r');
    try {
      at += readSync(file, bytes, 0, bytes.length, at);
    } finally {
      closeSync(file);
    }
    const lines = `${rest}${bytes.toString('latin1')}`.split('\n');
    rest = lines.pop() ?? '';
    return lines.flatMap((line) => parseLogLine(line) ?? []);
  };
}
