import type { IncomingMessage } from 'node:http';
import { isTraceparent } from '../../../shared/api/traceparent.ts';
import type { RoutedAnswer } from './http-exchange.ts';

/** Who asked what, and what was answered; nothing of a body, nor of a query. */
export interface AccessLine {
  /** As in the answer. */
  readonly request_id: string;
  /** Where the request has one of its own. */
  readonly gateway_request_id?: string;
  /** Where it is well-formed. */
  readonly traceparent?: string;
  readonly route?: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
}

export function accessLine(
  { method = '', url = '', headers }: IncomingMessage,
  { requestId, routeKey, headers: answered, status }: RoutedAnswer,
  milliseconds: number,
): AccessLine {
  const ofAnswer = answered['x-request-id'];
  const isOwn = typeof ofAnswer === 'string' && ofAnswer !== requestId;
  const { traceparent } = headers;
  return {
    request_id: isOwn ? ofAnswer : requestId,
    ...(isOwn && { gateway_request_id: requestId }),
    ...(isTraceparent(traceparent) && { traceparent }),
    ...(routeKey !== undefined && { route: routeKey }),
    method,
    path: url.split('?', 1)[0] ?? '',
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
  };
}
