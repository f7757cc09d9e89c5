import type { Json } from '../cell.ts';
import { ERROR_TEXTS } from '../error-texts.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { ERROR_CODE, PARTICULARS, RETRY } from './cell-shapes.ts';
import { MESSAGE_PACK } from './message-pack.ts';
import type { Operation } from './operation.ts';
import { namesIn } from './path.ts';
import {
  COUNT,
  described,
  either,
  list,
  named,
  object,
  optional,
  shape,
  TEXT,
  type Components,
  type Schema,
} from './shape.ts';

const INVALID = object({ file: TEXT, line: COUNT, message: TEXT });
const FIXED = object({ kind: TEXT, datastore: TEXT, name: TEXT, field: TEXT, wanted: TEXT, got: TEXT, reason: TEXT });

/** The document of a problem. */
const PROBLEM = named(
  'Problem',
  described(
    object({
      type: TEXT,
      title: TEXT,
      status: shape<number>({ type: 'integer' }),
      detail: TEXT,
      code: ERROR_CODE,
      retry: RETRY,
      request_id: TEXT,
      ...PARTICULARS,
      problems: described(optional(list(either(INVALID, FIXED))), 'Of definitions: each problem.'),
      lost: described(
        optional(object({ messages: COUNT, parked: COUNT })),
        'The contents that are lost with a trigger.',
      ),
      step: described(optional(TEXT), 'The present step of the move.'),
      switches: described(optional(COUNT), 'How often the move was switched.'),
    }),
    'RFC 9457, with a stable code.',
  ),
);

const GATEWAY_REFUSAL = named(
  'GatewayRefusal',
  described(object({ message: TEXT }), 'From the gateway itself, not from the datastore.'),
);

type Response = { readonly [member: string]: Json };

const REQUEST_ID = {
  'x-request-id': { description: 'The id of this request, for reports.', schema: { type: 'string' } },
};
const PLAIN = {
  'x-json': {
    description: '`plain`: a parser that reads every number as a double loses nothing of this answer.',
    schema: { const: 'plain' },
  },
};
const OF_ENCODING = 'JSON of some length is compressed if `accept-encoding` names gzip.';
const VARY = {
  vary: {
    description: `The answer is MessagePack if \`accept\` names it and the answer permits it; problems are always JSON. ${OF_ENCODING}`,
    schema: { enum: ['accept', 'accept, accept-encoding'] },
  },
};
const VARY_BY_ENCODING = { vary: { description: OF_ENCODING, schema: { const: 'accept-encoding' } } };
const RETRY_AFTER = {
  'retry-after': { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
};

/** The gateway's own responses, in its own form. */
const OF_GATEWAY: Readonly<Record<number, string>> = {
  400: 'The path is not percent-encoded UTF-8; from the gateway.',
  403: 'Not authorized; from the gateway.',
  429: 'Too many requests; from the gateway. Retry later.',
  500: 'The function failed; from the gateway. The request may have been done: repeat it.',
  503: 'Too many requests at once; from the gateway. Retry later.',
  504: 'Not answered in time; from the gateway. The request may have been done: repeat it.',
};
const TOO_LARGE = {
  413: 'Over 6 MB with the headers, if quotes, backslashes and line breaks of the body count twice; from the gateway.',
};
const NOT_CHANGED = { description: 'The answer is that of the tag in `if-none-match`.', headers: REQUEST_ID };

/** Returns every response of an operation: its answers, its problems by status, and the gateway's refusals. */
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
    const content = { ...(responses[status]?.['content'] as Response), 'application/problem+json': problems };
    responses[status] = { ...withProblems(responses[status], status, codes), content };
  }
  if (operation.method === 'GET') responses[304] = NOT_CHANGED;
  for (const [status, means] of Object.entries({ ...OF_GATEWAY, ...(operation.body && TOO_LARGE) }))
    responses[Number(status)] = withRefusal(responses[Number(status)], means, refusal);
  return responses;
}

function withRefusal(answer: Response | undefined, means: string, refusal: Response): Response {
  if (answer === undefined) return { description: means, content: refusal };
  return {
    ...answer,
    description: `${String(answer['description'])} ${means}`,
    content: { ...(answer['content'] as Response), ...orRefusal(answer, refusal) },
  };
}

/** An answer of the operation may be JSON with this status, too. */
function orRefusal({ content }: Response, refusal: Response): Response {
  const [[type, { schema }]] = Object.entries(refusal) as [[string, Response]];
  const own = Object(content)[type] as Response | undefined;
  return own ? { [type]: { ...own, schema: { anyOf: [own['schema'] ?? {}, schema ?? {}] } } } : refusal;
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

/** Returns the schema of problems with one of these codes. */
function problemWith(codes: readonly ErrorCode[], components: Components): Schema {
  return { allOf: [PROBLEM.describe(components), { type: 'object', properties: { code: { enum: codes } } }] };
}

/** Problems of every operation. */
const ANY = ['unknown_field', 'internal'] as const;
/** Problems of every operation on a datastore. */
const OF_DATASTORE = ['unknown_datastore', 'unavailable'] as const;
/** Problems of every operation that takes a body. */
const OF_BODY = ['invalid_json', 'invalid_field', 'request_too_large', 'unsupported_encoding'] as const;

/** Problems of every operation on something that its path names. */
const OF_PATH: Partial<Readonly<Record<string, ErrorCode>>> = {
  shard: 'unknown_shard',
  index: 'unknown_index',
  trigger: 'unknown_trigger',
  erasure: 'unknown_erasure',
};

/** Returns the codes of an operation's problems: those of its parameters, and its own. */
function problemsOf({ path, query, where, body, mayLackBody, errors = [] }: Operation): readonly ErrorCode[] {
  return [
    ...ANY,
    ...(path.includes('{datastore}') ? OF_DATASTORE : []),
    ...namesIn(path).flatMap((name) => OF_PATH[name] ?? []),
    ...(body === undefined ? [] : OF_BODY),
    ...(body === undefined || mayLackBody ? [] : (['missing_field'] as const)),
    ...(query !== undefined || where !== undefined || path.includes('{') ? (['invalid_field'] as const) : []),
    ...errors,
  ];
}
