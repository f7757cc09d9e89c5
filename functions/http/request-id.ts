import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isTraceparent } from '../../shared/api/traceparent.ts';
import type { RequestIds } from '../environment/request-ids.ts';

/** What a caller's own request id may be: it goes into logs and a header as it is. */
const TAKEN = /^[\w.:/+=@-]{1,128}$/u;

/**
 * The id of a request, in its answer and its lines of the log: the caller's own (`x-request-id`), so that what a
 * program did is found by one word everywhere, or the gateway's where there is none, or one that is no plain word.
 */
export function requestIdOf({
  headers,
  requestContext,
}: Pick<APIGatewayProxyEventV2, 'headers' | 'requestContext'>): string {
  const own = headers?.['x-request-id'];
  return own !== undefined && TAKEN.test(own) ? own : requestContext.requestId;
}

/** The ids that lines of the log about a request carry: `traceparent` as it came, where it is well-formed. */
export function requestIdsOf(event: Pick<APIGatewayProxyEventV2, 'headers' | 'requestContext'>): RequestIds {
  const traceparent = event.headers?.['traceparent'];
  return {
    request_id: requestIdOf(event),
    ...(isTraceparent(traceparent) && { traceparent }),
  };
}
