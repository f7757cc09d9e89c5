import { Logger } from '@aws-lambda-powertools/logger';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { isTraceparent } from '../../shared/api/traceparent.ts';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';
import { environmentName } from './config.ts';

/** The members of an error that are logged. Others may contain a caller's data, such as the SQL in drivers' errors. */
const OF_ERRORS = 'code errno sqlState failure key position timedOut poolExhausted status retry field $metadata'.split(
  ' ',
);

/** The functions' structured log: request ids and listed members of errors, never bodies or whole events. */
export const logger = new Logger({
  serviceName: 'schemaless',
  jsonReplacerFn: (_key, value) => (value instanceof Error ? ofError(value) : value),
});

function ofError(error: Error): object {
  const { name, message, stack, cause } = error;
  const members = OF_ERRORS.map((member) => [member, Object(error)[member] as unknown]);
  return { name, message, stack, cause, ...Object.fromEntries(members) };
}

interface RequestIds {
  readonly request_id: string;
  /** W3C Trace Context. */
  readonly traceparent?: string;
}

type Ids = Pick<APIGatewayProxyEventV2, 'headers' | 'requestContext'>;

/** A caller's request id goes into logs and a header unchanged. */
const TAKEN = /^[\w.:/+=@-]{1,128}$/u;

/** Returns the caller's `x-request-id`, or the gateway's id if there is none or it is invalid. */
export function requestIdOf({ headers, requestContext }: Ids): string {
  const own = headers?.['x-request-id'];
  return own !== undefined && TAKEN.test(own) ? own : requestContext.requestId;
}

export function requestIdsOf(event: Ids): RequestIds {
  const traceparent = event.headers?.['traceparent'];
  return {
    request_id: requestIdOf(event),
    ...(traceparent !== undefined && isTraceparent(traceparent) && { traceparent }),
  };
}

const current = new AsyncLocalStorage<RequestIds>();

/** Runs work in which `requestIds` returns these ids, also after each `await`. */
export function duringRequest<T>(ids: RequestIds, work: () => T): T {
  return current.run(ids, work);
}

/** Returns no ids outside a request, as in loops. */
export function requestIds(): Partial<RequestIds> {
  return current.getStore() ?? {};
}

const metrics = new Metrics({ namespace: METRIC_NAMESPACE, serviceName: environmentName() });

/** Counts events (`stored`, `conflict`) as one line, written at once so that concurrent requests do not mix. */
export function count(names: readonly string[], requestId?: string): void {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  countTimes(counts, requestId);
}

/** Reports values, optionally with another dimension. */
export function gauge(
  values: Readonly<Record<string, number>>,
  dimension: Readonly<Record<string, string>> = {},
): void {
  for (const [name, value] of Object.entries(dimension)) metrics.addDimension(name, value);
  for (const [name, value] of Object.entries(values)) metrics.addMetric(name, MetricUnit.NoUnit, value);
  metrics.publishStoredMetrics();
}

/** Adds to counters by name. */
export function countTimes(counts: ReadonlyMap<string, number>, requestId?: string): void {
  if (counts.size === 0) return;
  for (const [name, times] of counts) metrics.addMetric(name, MetricUnit.Count, times);
  if (requestId !== undefined) metrics.addMetadata('request_id', requestId);
  metrics.publishStoredMetrics();
}
