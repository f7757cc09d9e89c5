import { LIMITS, type Json } from '../cell.ts';
import type { Attempt, BatchRoute } from './calls.ts';
import { isOver, type Bounds } from './bounds.ts';
import { attemptOf, isJsonObject, noAnswer } from './problem.ts';

interface Joined {
  readonly route: BatchRoute;
  readonly item: string;
  readonly alone: () => Promise<Attempt>;
  readonly bounds: Bounds;
}

interface Waiting extends Joined {
  readonly resolve: (attempt: Attempt | Promise<Attempt>) => void;
}

/** How many go in one request, in which list of it, and in which list of the answer theirs come, in order. */
const KINDS: Readonly<Record<BatchRoute, { most: number; asked: string; answered: string }>> = {
  'batch-read': { most: LIMITS.batchReads, asked: 'targets', answered: 'answers' },
  // Answers to queries are long: of a quarter as many some are read here while others are made there.
  'batch-query': { most: LIMITS.batchReads / 4, asked: 'targets', answered: 'answers' },
  'batch-put': { most: LIMITS.batchCells, asked: 'cells', answered: 'results' },
};
const UNKNOWN: readonly (string | undefined)[] = ['unknown_route', 'denied'];

/**
 * Sends in one request those of a kind that begin in the same turn of the event loop: most of what a small one costs is
 * that it is one. Nobody waits for others. A read that the server was not done with in time, or had no room for, is sent
 * alone. A request with puts ends with the first of their calls, and the others are sent alone.
 */
export function joinRequests(
  together: (route: BatchRoute, body: string, bounds: Bounds) => Promise<Attempt>,
  whole: Bounds,
): (joined: Joined) => Promise<Attempt> {
  const lanes = new Map<BatchRoute, Waiting[]>();
  /** Which a server did not know, or does not let this caller use. */
  const unknown = new Set<BatchRoute>();

  function answerOf(route: BatchRoute, answer: Json | undefined): Attempt | undefined {
    if (!isJsonObject(answer)) return undefined;
    if (route === 'batch-put') {
      const { reason, ...more } = answer;
      // Outcomes of puts come without what surrounds them: an answer to a put alone that was confirmed says no more.
      if (answer['outcome'] !== 'unavailable') return attemptOf(200, answer);
      return attemptOf(503, { code: 'unavailable', detail: `Not confirmed, repeat it: ${String(reason)}`, ...more });
    }
    return isJsonObject(answer['body']) ? attemptOf(Number(answer['status']), answer['body']) : undefined;
  }

  async function send(route: BatchRoute, all: readonly Waiting[]): Promise<void> {
    const some = all.filter(({ bounds }) => !isOver(bounds));
    // Who waited for these has been told.
    for (const one of all)
      if (!some.includes(one)) one.resolve(noAnswer('No answer yet: the time of the call is up', null));
    const [only, ...others] = some;
    if (only && others.length === 0) return only.resolve(only.alone());
    const { asked, answered } = KINDS[route];
    const body = `{"${asked}":[${some.map(({ item }) => item).join(',')}]}`;
    // What cannot be signed, or read, fails each of them by itself.
    const bounds = route === 'batch-put' ? first(some, whole) : whole;
    const attempt = await together(route, body, bounds).catch(() => undefined);
    const answers = attempt?.reply?.json[answered];
    if (UNKNOWN.includes(attempt?.error?.code)) unknown.add(route);
    for (const [position, { alone, resolve }] of some.entries()) {
      const answer = answerOf(route, Array.isArray(answers) ? (answers as readonly Json[])[position] : undefined);
      if (answer) resolve(answer);
      // Each may be tried again by itself, after a pause, as far as the budget goes.
      else if (attempt?.error && attempt.again && !isOver(bounds)) resolve(attempt);
      else resolve(alone());
    }
  }

  function sendAll(route: BatchRoute): void {
    const waiting = lanes.get(route) ?? [];
    lanes.delete(route);
    const { most } = KINDS[route];
    for (let start = 0; start < waiting.length; start += most) void send(route, waiting.slice(start, start + most));
  }

  return (joined) => {
    const { route, alone } = joined;
    if (unknown.has(route)) return alone();
    return new Promise((resolve) => {
      const waiting = lanes.get(route);
      if (waiting) waiting.push({ ...joined, resolve });
      else {
        lanes.set(route, [{ ...joined, resolve }]);
        // Once everybody is here who comes in this turn, from any connection.
        setImmediate(() => sendAll(route));
      }
    });
  };
}

function first(some: readonly Waiting[], whole: Bounds): Bounds {
  const signals = new Set(some.flatMap(({ bounds }) => bounds.signal ?? []));
  const ends = some.flatMap(({ bounds }) => bounds.end ?? []);
  return {
    signal: signals.size > 1 ? AbortSignal.any([...signals]) : [...signals][0],
    end: ends.length > 0 ? Math.min(...ends) : undefined,
    timeoutMs: whole.timeoutMs,
  };
}
