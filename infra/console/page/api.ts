import type { ShardHead } from '../../../shared/contract/datastore.ts';
import { parseExactly } from './exact-json.ts';

export class Refused extends Error {
  /** 0: no answer came. */
  readonly status: number;
  /** Of the store; undefined of a gateway, or where nobody answered. */
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

/** What an operation is of, behind the datastore: each is encoded. Text is a whole path, of no datastore. */
type Parts = string | readonly (string | number)[];

export interface Asking {
  /** Values that are undefined are left out, lists are repeated. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** Sent by POST. */
  readonly body?: unknown;
  /** Bodies come, and that somebody asked for them is written down. @default false: they are hidden */
  readonly shown?: boolean;
}

/** Asks the API of a datastore. Throws Refused. */
export type Ask = <Answer>(parts: Parts, asking?: Asking) => Promise<Answer>;

interface Answered {
  /** Undefined if it is the one that the page has already. */
  readonly answer: unknown;
  readonly etag: string | undefined;
}

const TIMEOUT_MS = 30_000;
const TOKEN = 'schemaless-console-token';
/** Told since when nothing is answered, by `Date.now()`; undefined while all is well. */
type Watch = (lostAt: number | undefined) => void;

const watchers = new Set<Watch>();
let lostAt: number | undefined;

/** Of `GET /v1/{datastore}/shards`. */
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
  /** The proxy that signs for it; null: the API is asked as it is. */
  readonly through: { readonly url: string; readonly profile: string | null; readonly datastore: string | null } | null;
}

/** Asks who opened the page. Exchanges the single-use token of the address for the page's own token first. */
export async function openSession(): Promise<Session> {
  const ask = askerBeside('');
  const word = /^#token=([\w-]+)$/u.exec(location.hash)?.[1];
  if (word !== undefined) {
    history.replaceState(null, '', location.pathname);
    const { token } = await ask<{ readonly token: string }>('/console/redeem', { body: { word } });
    localStorage.setItem(TOKEN, token);
  }
  return ask<Session>('/console/session.json');
}

/** Whether the API did not answer: nobody did, or who signs for the page or a gateway before it says so. */
export function hasNoAnswer({ status, code }: Pick<Refused, 'status' | 'code'>): boolean {
  return status === 0 || code === 'no_answer' || (code === undefined && [502, 503, 504].includes(status));
}

/** Asks beside the feed, at once: what somebody does, and what is asked for on a click. */
export function askerBeside(datastore: string, signal?: AbortSignal): Ask {
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
  // A group that is down is told of by 503, and answered all the same.
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

/** What is not for this caller is undefined: a screen shows what else there is. Throws Refused for all other reasons. */
export async function unlessDenied<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused && error.status === 403) return undefined;
    throw error;
  }
}
