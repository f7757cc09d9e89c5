import { parseTarget } from '../../../infra/local/gateway/http-event.ts';
import { GATEWAY_LIMITS } from '../../../infra/local/gateway/gateway.ts';
import { routeTable } from '../../../infra/local/gateway/route-table.ts';
import { ROUTES } from '../../../shared/api/operations.ts';
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts';
import { readExact, type ExactJson } from './exact-json.ts';
import type { HostileRequest, HttpAnswer } from './send.ts';

export type AnswerFault = 'server error' | 'no answer' | 'unnamed refusal' | 'wrong answer';

/** Codes about a field or a part of the path, which must name it. */
const NAMING: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_field',
  'unknown_field',
  'missing_field',
  'body_too_large',
  'request_too_large',
  'unknown_datastore',
  'unknown_shard',
  'unknown_index',
  'unknown_trigger',
];

const routes = routeTable(ROUTES.map(({ method, path }) => ({ routeKey: `${method} ${path}`, target: undefined })));

/** Returns the fault of an answer; undefined if there is none. */
export function judge(request: HostileRequest, answer: HttpAnswer): AnswerFault | undefined {
  if (answer.status >= 500) return 'server error';
  // No function answers bytes that are no HTTP, and they may stay without an answer.
  if (request.raw !== undefined) return undefined;
  if (answer.status === 0) return isOverGateway(request) ? undefined : 'no answer';
  if (!reachesFunction(request) || saysGateway(request, answer)) return undefined;
  if (answer.status < 200 || (answer.status >= 300 && answer.status < 400)) return 'wrong answer';
  const json = readAnswer(answer);
  if (json === undefined) return answer.status < 300 ? 'wrong answer' : 'unnamed refusal';
  if (answer.status >= 400 && !isNamed(answer, json)) return 'unnamed refusal';
  return request.wants === undefined || meets(request.wants, answer, json) ? undefined : 'wrong answer';
}

/** Returns undefined for text that is no JSON, or more than a function can answer. */
function readAnswer({ text }: HttpAnswer): ExactJson | undefined {
  if (text.length > GATEWAY_LIMITS.functionBytes) return undefined;
  try {
    return readExact(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns whether it is a problem document with a known code, of the answer's own status, that names the field if any.
 */
function isNamed({ status, contentType, text }: HttpAnswer, json: ExactJson): boolean {
  const code = memberText(json, 'code') as ErrorCode;
  if (contentType !== 'application/problem+json' || !Object.hasOwn(ERRORS, code)) return false;
  if (ERRORS[code].status !== status || json.members?.get('status')?.number !== String(status)) return false;
  if (
    memberText(json, 'retry') !== ERRORS[code].retry ||
    memberText(json, 'request_id') === '' ||
    memberText(json, 'detail') === ''
  )
    return false;
  // No internals leak.
  if (/\.ts:\d+|node_modules/.test(text)) return false;
  // The name may be empty: that of the parameter in `?=1`.
  return !NAMING.includes(code) || json.members.get('field')?.string !== undefined;
}

function meets(wants: NonNullable<HostileRequest['wants']>, { status }: HttpAnswer, json: ExactJson): boolean {
  if (wants === 'answered') return status === 200;
  if (wants in ERRORS && wants !== 'conflict') return memberText(json, 'code') === wants;
  const first = json.members?.get('results')?.items?.[0] ?? json;
  const outcome = memberText(first, 'outcome');
  return wants === 'differs'
    ? outcome === 'conflict'
    : outcome === wants || (wants === 'stored' && outcome === 'buffered');
}

/** Returns a text member, or '' without one. */
export function memberText(json: ExactJson | undefined, name: string): string {
  return json?.members?.get(name)?.string ?? '';
}

function reachesFunction({ method, target }: HostileRequest): boolean {
  const parsed = parseTarget(target);
  return parsed !== undefined && routes.match(method, parsed.segments) !== undefined;
}

/**
 * Returns whether the gateway refused the request itself, as in the cloud, or ended the connection: the request is too
 * large for it, or names another host than this machine.
 */
function saysGateway(request: HostileRequest, { status, text }: HttpAnswer): boolean {
  if (status === 431 || status === 417) return true;
  if (status === 403) return request.headers?.['host'] !== undefined && text.startsWith('{"message":"host: wanted');
  return status === 413 && text.startsWith('{"message"') && asEvent(request) > GATEWAY_LIMITS.functionBytes / 2;
}

function asEvent({ body }: HostileRequest): number {
  return body === undefined ? 0 : Buffer.byteLength(JSON.stringify(body.toString()));
}

function isOverGateway({ body, method, headers = {} }: HostileRequest): boolean {
  return method === 'CONNECT' || 'expect' in headers || (body?.length ?? 0) > GATEWAY_LIMITS.requestBytes;
}
