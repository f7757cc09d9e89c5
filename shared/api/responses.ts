import type { Json } from '../cell.ts';
import { ERROR_TEXTS } from '../error-texts.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { MESSAGE_PACK } from './message-pack.ts';
import type { Description } from './describe/description.ts';
import { schema } from './schema.ts';
import { problemWith } from './problem-schemas.ts';

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
const REFUSAL = { 'application/json': { schema: schema('GatewayRefusal') } };

/** What the gateway answers by itself, in its own form. */
const OF_GATEWAY: Readonly<Record<number, string>> = {
  403: 'Not authorized; from the gateway.',
  429: 'Too many requests; from the gateway. Repeat it later.',
  504: 'Not answered in time; from the gateway. It may have been done: repeat it.',
};

/** Every response of an operation: its answers, its problems by their status, and the gateway's refusals. */
export function responsesOf(description: Description): Readonly<Record<string, Json>> {
  const responses: Record<number, Response> = {};
  for (const [status, { means, schema, example }] of Object.entries(description.answers)) {
    responses[Number(status)] = {
      description: means,
      headers: { ...REQUEST_ID, ...PLAIN, ...(description.bodies === true ? VARY : VARY_BY_ENCODING) },
      content: {
        'application/json': { schema, example },
        ...(description.bodies === true && { [MESSAGE_PACK]: { schema } }),
      },
    };
  }
  const { statuses = {} } = description;
  for (const [status, codes] of byStatus(description.problems, statuses)) {
    responses[status] = withProblems(responses[status], status, codes);
  }
  for (const [status, means] of Object.entries(OF_GATEWAY))
    responses[Number(status)] = withRefusal(responses[Number(status)], means);
  return responses;
}

function withRefusal(answer: Response | undefined, means: string): Response {
  if (answer === undefined) return { description: means, content: REFUSAL };
  return {
    ...answer,
    description: `${String(answer['description'])} ${means}`,
    content: { ...REFUSAL, ...(answer['content'] as Response) },
  };
}

function withProblems(answer: Response | undefined, status: number, codes: readonly ErrorCode[]): Response {
  const problems = codes.map((code) => `\`${code}\`: ${ERROR_TEXTS[code].title}.`).join(' ');
  // A 503 can also be the gateway's own, unless the operation already answers JSON with it.
  const content = answer?.['content'] ?? (status === 503 ? REFUSAL : {});
  return {
    description: answer === undefined ? problems : `${String(answer['description'])} ${problems}`,
    headers: status === 503 ? { ...REQUEST_ID, ...RETRY_AFTER } : REQUEST_ID,
    content: {
      ...(content as Response),
      'application/problem+json': { schema: problemWith(codes), example: exampleOf(codes[0] ?? 'internal') },
    },
  };
}

function byStatus(
  codes: readonly ErrorCode[],
  statuses: NonNullable<Description['statuses']>,
): ReadonlyMap<number, readonly ErrorCode[]> {
  return Map.groupBy(new Set(codes), (code) => statuses[code] ?? ERRORS[code].status);
}

function exampleOf(code: ErrorCode): Json {
  const { status, retry } = ERRORS[code];
  const { title } = ERROR_TEXTS[code];
  return { type: 'about:blank', title, status, detail: title, code, retry, request_id: 'JKJaXmPLvHcESHA=' };
}
