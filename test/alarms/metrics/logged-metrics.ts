import type { LogLine } from '../../../infra/local/control/log-line.ts';
import type { MetricStore } from './metric-store.ts';

/** What a line of figures says of them: CloudWatch's embedded metric format. */
interface Embedded {
  readonly Timestamp: number;
  readonly CloudWatchMetrics: readonly {
    readonly Namespace: string;
    readonly Dimensions: readonly (readonly string[])[];
    readonly Metrics: readonly { readonly Name: string }[];
  }[];
}

/** Takes the figures of a line, as CloudWatch Logs would. */
export function takeFigures(store: Pick<MetricStore, 'add'>, { fields }: Pick<LogLine, 'fields'>): void {
  if (!('_aws' in fields)) return;
  const { Timestamp, CloudWatchMetrics } = fields['_aws'] as Embedded;
  for (const { Namespace: namespace, Dimensions, Metrics } of CloudWatchMetrics)
    for (const names of Dimensions) {
      const dimensions = Object.fromEntries(names.map((name) => [name, String(fields[name])]));
      for (const { Name: name } of Metrics)
        store.add({ namespace, name, dimensions }, Timestamp, ...[fields[name]].flat().map(Number));
    }
}

/** Counts a request to the HTTP API, as API Gateway would: a line of its log for each. */
export function takeRequest(store: Pick<MetricStore, 'add'>, apiId: string, { time, fields }: LogLine): void {
  const { status, milliseconds } = fields;
  if (typeof status !== 'number' || typeof milliseconds !== 'number') return;
  const metric = { namespace: 'AWS/ApiGateway', dimensions: { ApiId: apiId } };
  const at = Date.parse(time);
  store.add({ ...metric, name: 'Count' }, at, 1);
  store.add({ ...metric, name: '5xx' }, at, status >= 500 ? 1 : 0);
  store.add({ ...metric, name: 'Latency' }, at, milliseconds);
}
