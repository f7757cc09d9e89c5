import { AsyncLocalStorage } from 'node:async_hooks';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isTraceparent } from '../../shared/api/traceparent.ts';

/** What ties lines of the log to the request that they come from. */
export interface RequestIds {
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
