import { Logger } from '@aws-lambda-powertools/logger';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { isTraceparent } from '../../shared/api/traceparent.ts';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';
import { environmentName } from './config.ts';

/**
 * The structured log of all functions. A request's id is passed with each line, not kept in the logger, since an
 * instance may answer several requests at a time. Bodies of cells and whole events are never logged.
 */
export const logger = new Logger({ serviceName: 'schemaless' });

/** What ties lines of the log to the request that they come from. */
interface RequestIds {
  readonly request_id: string;
  /** The caller's own, W3C Trace Context. */
  readonly traceparent?: string;
}

/** Where the ids of a request come from. */
type Ids = Pick<APIGatewayProxyEventV2, 'headers' | 'requestContext'>;

/** What a caller's own request id may be: it goes into logs and a header as it is. */
const TAKEN = /^[\w.:/+=@-]{1,128}$/u;

/**
 * The id of a request, in its answer and its lines of the log: the caller's own (`x-request-id`), so that what a
 * program did is found by one word everywhere, or the gateway's where there is none, or one that is no plain word.
 */
export function requestIdOf({ headers, requestContext }: Ids): string {
  const own = headers?.['x-request-id'];
  return own !== undefined && TAKEN.test(own) ? own : requestContext.requestId;
}

/** The ids that lines of the log about a request carry: `traceparent` as it came, where it is well-formed. */
export function requestIdsOf(event: Ids): RequestIds {
  const traceparent = event.headers?.['traceparent'];
  return {
    request_id: requestIdOf(event),
    ...(traceparent !== undefined && isTraceparent(traceparent) && { traceparent }),
  };
}

const current = new AsyncLocalStorage<RequestIds>();

/** Does some work as part of a request: whatever it waits for, and whatever that reports, knows the ids. */
export function duringRequest<T>(ids: RequestIds, work: () => T): T {
  return current.run(ids, work);
}

/** The ids of the request that this is part of; none where it is part of none, as in what runs all the time. */
export function requestIds(): Partial<RequestIds> {
  return current.getStore() ?? {};
}

const metrics = new Metrics({ namespace: METRIC_NAMESPACE, serviceName: environmentName() });

/**
 * Counts what happened, as one line of the log in CloudWatch's embedded metric format. Writes the line
 * before it returns, so requests that run at the same time do not mix.
 *
 * @param names one for each time: `stored`, `stored`, `conflict`
 * @param requestId of the request in which it happened, where there is one
 */
export function count(names: readonly string[], requestId?: string): void {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  countTimes(counts, requestId);
}

/** Gives figures as they are now, by name. */
export function gauge(figures: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(figures)) metrics.addMetric(name, MetricUnit.NoUnit, value);
  metrics.publishStoredMetrics();
}

/**
 * Gives figures of one of several that would hide each other under one name.
 *
 * @param dimension what tells them apart, besides the environment
 */
export function gaugeOf(dimension: Readonly<Record<string, string>>, figures: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(dimension)) metrics.addDimension(name, value);
  gauge(figures);
}

/** Counts what happened many times: for each name how often. */
export function countTimes(counts: ReadonlyMap<string, number>, requestId?: string): void {
  if (counts.size === 0) return;
  for (const [name, times] of counts) metrics.addMetric(name, MetricUnit.Count, times);
  if (requestId !== undefined) metrics.addMetadata('request_id', requestId);
  metrics.publishStoredMetrics();
}
