import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Json } from '../../shared/cell.ts';
import { invalidField, missingField } from '../../shared/errors.ts';
import type { AnswerRoom } from '../../shared/contract/answer-room.ts';
import { wantsMessagePack } from './accepts.ts';
import { readJsonBody } from './request-body.ts';
import { requestIdOf } from './request-id.ts';
import { readQuery, type Query, type QueryNames } from './query.ts';

/** A request as the operations see it. Nothing is read before an operation asks for it. */
export interface HttpRequest {
  /** The request id: the caller's own, or the gateway's. */
  readonly id: string;
  /** Whether it had to be signed. */
  readonly isSigned: boolean;
  /**
   * What is left of the answer, where it came among others in one request whose answers go back with its own. @default
   * undefined: it came alone
   */
  readonly room?: AnswerRoom;
  /** The answer may go in MessagePack, so that bodies need not be read. */
  readonly packed: boolean;
  /** A header, by its name in lower case. */
  header(name: string): string | undefined;
  /** A parameter of the route's path, decoded. Throws `missing_field`, `invalid_field`. */
  path(name: string): string;
  /** The query parameters, of which these may come. Throws `unknown_field`, `invalid_field`. */
  query(names?: QueryNames): Query;
  /** Whether a body came at all. */
  readonly hasBody: boolean;
  /** The request body. `depth` is the deepest nesting. Throws `missing_field`, `invalid_json`, `request_too_large`. */
  json(depth?: number): Json;
}

export function httpRequest(event: APIGatewayProxyEventV2): HttpRequest {
  return {
    id: requestIdOf(event),
    isSigned: isSigned(event),
    packed: wantsMessagePack(event.headers?.['accept']),
    header: (name) => event.headers?.[name],
    path: (name) => pathValue(event.pathParameters?.[name], name),
    query: (names = {}) => readQuery(event.rawQueryString, names),
    hasBody: (event.body ?? '') !== '',
    json: (depth) => readJsonBody(event, depth),
  };
}

/** The gateway says who signed a request, where it asks for that. */
function isSigned({ requestContext }: APIGatewayProxyEventV2): boolean {
  const { authorizer } = requestContext as { readonly authorizer?: { readonly iam?: unknown } };
  return authorizer?.iam !== undefined;
}

/**
 * A parameter's value. The gateway has decoded it already; once more is harmless, since `%` is in no value that is
 * taken. Throws `missing_field`, `invalid_field`.
 */
export function pathValue(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw missingField(name, 'a part of the path');
  try {
    return decodeURIComponent(value);
  } catch {
    throw invalidField(name, 'percent-encoded UTF-8', value);
  }
}
