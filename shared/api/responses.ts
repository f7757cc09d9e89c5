import type { Json } from '../cell.ts';
import { ERROR_TEXTS } from '../error-texts.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { MESSAGE_PACK } from './message-pack.ts';
import type { Operation } from './operation.ts';
import { problemsOf } from './problems-of.ts';
import { GATEWAY_REFUSAL, problemWith } from './problems.ts';
import type { Components } from './shape.ts';

type Response = { readonly [member: string]: Json };

const REQUEST_ID = {
  'x-request-id': { description: 'The id of this request, for reports.', schema: { type: 'string' } },
};
const PLAIN = {
  'x-json': {
    description: '`plain`: a reader that makes a double of each number loses nothing of this answer.',
    schema: { const: 'plain' },
  },
};
const OF_ENCODING = 'JSON of some length is compressed where `accept-encoding` names gzip.';
const VARY = {
  vary: {
    description: `Where \`accept\` names MessagePack the answer is that, if it can be; problems are JSON in any case. ${OF_ENCODING}`,
    schema: { enum: ['accept', 'accept, accept-encoding'] },
  },
};
const VARY_BY_ENCODING = { vary: { description: OF_ENCODING, schema: { const: 'accept-encoding' } } };
const RETRY_AFTER = {
  'retry-after': { description: 'Seconds after which to repeat it.', schema: { type: 'integer' } },
};

/** What the gateway answers by itself, in its own form. */
const OF_GATEWAY: Readonly<Record<number, string>> = {
  403: 'Not authorized; from the gateway.',
  429: 'Too many requests; from the gateway. Repeat it later.',
  504: 'Not answered in time; from the gateway. It may have been done: repeat it.',
};

/** Every response of an operation: its answers, its problems by their status, and the gateway's refusals. */
export function responsesOf(operation: Operation, components: Components): Readonly<Record<string, Json>> {
  const refusal = { 'application/json': { schema: GATEWAY_REFUSAL.describe(components) } };
  const responses: Record<number, Response> = {};
  for (const [status, { means, body, example }] of Object.entries(operation.answers)) {
    const schema = body.describe(components);
    responses[Number(status)] = {
      description: means,
      headers: { ...REQUEST_ID, ...PLAIN, ...(operation.bodies === true ? VARY : VARY_BY_ENCODING) },
      content: {
        'application/json': { schema, example },
        ...(operation.bodies === true && { [MESSAGE_PACK]: { schema } }),
      },
    };
  }
  const { statuses = {} } = operation;
  for (const [status, codes] of byStatus(problemsOf(operation), statuses)) {
    const problems = { schema: problemWith(codes, components), example: exampleOf(codes[0] ?? 'internal') };
    // A 503 can also be the gateway's own, unless the operation already answers JSON with it.
    const others = responses[status]?.['content'] ?? (status === 503 ? refusal : {});
    const content = { ...(others as Response), 'application/problem+json': problems };
    responses[status] = { ...withProblems(responses[status], status, codes), content };
  }
  for (const [status, means] of Object.entries(OF_GATEWAY))
    responses[Number(status)] = withRefusal(responses[Number(status)], means, refusal);
  return responses;
}

function withRefusal(answer: Response | undefined, means: string, refusal: Response): Response {
  if (answer === undefined) return { description: means, content: refusal };
  return {
    ...answer,
    description: `${String(answer['description'])} ${means}`,
    content: { ...refusal, ...(answer['content'] as Response) },
  };
}

function withProblems(answer: Response | undefined, status: number, codes: readonly ErrorCode[]): Response {
  const problems = codes.map((code) => `\`${code}\`: ${ERROR_TEXTS[code].title}.`).join(' ');
  return {
    description: answer === undefined ? problems : `${String(answer['description'])} ${problems}`,
    headers: status === 503 ? { ...REQUEST_ID, ...RETRY_AFTER } : REQUEST_ID,
  };
}

function byStatus(
  codes: readonly ErrorCode[],
  statuses: NonNullable<Operation['statuses']>,
): ReadonlyMap<number, readonly ErrorCode[]> {
  return Map.groupBy(new Set(codes), (code) => statuses[code] ?? ERRORS[code].status);
}

function exampleOf(code: ErrorCode): Json {
  const { status, retry } = ERRORS[code];
  const { title } = ERROR_TEXTS[code];
  return { type: 'about:blank', title, status, detail: title, code, retry, request_id: 'JKJaXmPLvHcESHA=' };
}
