import type { IncomingMessage } from 'node:http';
import { isTraceparent } from '../../../shared/api/traceparent.ts';
import type { RoutedAnswer } from './http-exchange.ts';

export interface AccessLine {
  readonly request_id: string;
  readonly gateway_request_id?: string;
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
