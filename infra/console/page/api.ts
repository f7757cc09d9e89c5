import type { ShardHead } from '../../../shared/contract/datastore.ts';
import { parseExactly } from './exact-json.ts';

export class Refused extends Error {
  /** 0 without an answer. */
  readonly status: number;
  /** The store's error code; undefined for an error of a gateway, or without an answer. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly problem: Problem;

  constructor(status: number, problem: Problem, requestId?: string) {
    super(problem.detail ?? problem.title ?? problem.message ?? `Answered ${status}`);
    this.status = status;
    this.code = problem.code;
    this.requestId = problem.request_id ?? requestId;
    this.problem = problem;
  }
}

export function asRefused(error: unknown): Refused {
  return error instanceof Refused ? error : new Refused(0, { detail: String(error) });
}

interface Problem {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly message?: string;
  readonly request_id?: string;
  readonly progress?: { readonly done: number; readonly total: number } | null;
}

/** The path after the datastore, in parts that are encoded. A text is a whole path, without a datastore. */
type Parts = string | readonly (string | number)[];

export interface Asking {
  /** Undefined values are left out, lists become repeated parameters. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** Sent by POST. */
  readonly body?: unknown;
  /** Asks for bodies, which the API logs. @default false: they are hidden */
  readonly shown?: boolean;
}

/** Asks the API of a datastore. Throws Refused. */
export type Ask = <Answer>(parts: Parts, asking?: Asking) => Promise<Answer>;

interface Answered {
  /** Undefined if the page has it already. */
  readonly answer: unknown;
  readonly etag: string | undefined;
}

const TIMEOUT_MS = 30_000;
const TOKEN = 'schemaless-console-token';
/** Receives the time since which the API does not answer, by `Date.now()`; undefined while it answers. */
type Watch = (lostAt: number | undefined) => void;

const watchers = new Set<Watch>();
let lostAt: number | undefined;

/** The answer of `GET /v1/{datastore}/shards`. */
export interface ShardHeads {
  readonly shards: readonly ShardHead[];
}

export function watchConnection(watch: Watch): () => void {
  watchers.add(watch);
  watch(lostAt);
  return () => void watchers.delete(watch);
}

function tell(at: number | undefined): void {
  if (lostAt === at) return;
  lostAt = at;
  for (const watch of watchers) watch(lostAt);
}

export interface Session {
  readonly version: string;
  readonly datastores: readonly string[];
  readonly actions: boolean;
  /** The proxy that signs requests; null: the page asks the API directly. */
  readonly through: { readonly url: string; readonly profile: string | null; readonly datastore: string | null } | null;
}

/** Reads the session. First exchanges the single-use token of the address for the page's own token. */
export async function openSession(): Promise<Session> {
  const ask = askerFor('');
  const word = /^#token=([\w-]+)$/u.exec(location.hash)?.[1];
  if (word !== undefined) {
    history.replaceState(null, '', location.pathname);
    const { token } = await ask<{ readonly token: string }>('/console/redeem', { body: { word } });
    localStorage.setItem(TOKEN, token);
  }
  return ask<Session>('/console/session.json');
}

/** Returns whether the API did not answer: no answer came, or the signing proxy or a gateway reported it. */
export function hasNoAnswer({ status, code }: Pick<Refused, 'status' | 'code'>): boolean {
  return status === 0 || code === 'no_answer' || (code === undefined && [502, 503, 504].includes(status));
}

/** Returns an asker outside the feed, without a queue: for actions and clicks. */
export function askerFor(datastore: string, signal?: AbortSignal): Ask {
  return async <Answer>(parts: Parts, asking?: Asking) =>
    (await send(pathOf(datastore, parts, asking), { ...asking, signal })).answer as Answer;
}

interface Sending extends Asking {
  readonly signal: AbortSignal | undefined;
  readonly etag?: string | undefined;
}

export async function send(path: string, { body, shown = false, signal, etag: known }: Sending): Promise<Answered> {
  const token = localStorage.getItem(TOKEN);
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'x-schemaless-bodies': shown ? 'shown' : 'hidden',
        ...(token !== null && { 'x-console-token': token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(known !== undefined && { 'if-none-match': known }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    tell(lostAt ?? Date.now());
    throw new Refused(0, { detail: 'No answer from the API' });
  }
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('apigw-requestid') ?? undefined;
  const etag = response.headers.get('etag') ?? undefined;
  const answer = response.status === 304 ? undefined : readAnswer(text, response);
  // A 503 of the health route reports a group that is down, and is an answer.
  const isAnswer = response.ok || response.status === 304 || isHealth(answer);
  const refused = isAnswer ? undefined : new Refused(response.status, answer as Problem, requestId);
  tell(refused && hasNoAnswer(refused) ? (lostAt ?? Date.now()) : undefined);
  if (refused) throw refused;
  return { answer, etag };
}

function readAnswer(text: string, response: Response): unknown {
  try {
    return parseExactly(text, response.headers.get('x-json') === 'plain');
  } catch {
    return { detail: `Answered ${response.status}, and no JSON` };
  }
}

function isHealth(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'groups' in answer;
}

export function pathOf(datastore: string, parts: Parts, { query = {} }: Asking = {}): string {
  if (typeof parts === 'string') return parts;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value])
      if (one !== undefined) search.append(name, String(one));
  const path = ['v1', datastore, ...parts].map((part) => encodeURIComponent(part)).join('/');
  return `/${path}${search.size === 0 ? '' : `?${search}`}`;
}

/** Returns undefined if this caller has no right, so that the screen shows the rest. Throws Refused otherwise. */
export async function unlessDenied<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused && error.status === 403) return undefined;
    throw error;
  }
}
