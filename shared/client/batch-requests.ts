import { isObject, LIMITS, type Json } from '../cell.ts';
import { slicesOf } from '../slices-of.ts';
import type { Attempt, BatchRoute } from './calls.ts';
import { isOver, type Bounds } from './bounds.ts';
import { attemptOf, noAnswer } from './problem.ts';

interface Joined {
  readonly route: BatchRoute;
  readonly item: string;
  readonly alone: () => Promise<Attempt>;
  readonly bounds: Bounds;
}

interface Waiting extends Joined {
  readonly resolve: (attempt: Attempt | Promise<Attempt>) => void;
}

/** The most calls of one request, its list of calls, and the answer's list of results, in the same order. */
const KINDS: Readonly<Record<BatchRoute, { most: number; asked: string; answered: string }>> = {
  'batch-read': { most: LIMITS.batchReads, asked: 'targets', answered: 'answers' },
  // Answers to queries are long: smaller requests let this side read some while the server makes others.
  'batch-query': { most: LIMITS.batchReads / 4, asked: 'targets', answered: 'answers' },
  'batch-put': { most: LIMITS.batchCells, asked: 'cells', answered: 'results' },
};
const UNKNOWN: readonly (string | undefined)[] = ['unknown_route', 'denied'];

/**
 * Batches calls of a kind that begin in the same turn of the event loop: most of a small request's cost is fixed. No
 * call waits for later ones. Sends a read alone if the server had no time or no room for it. A batch of puts ends with
 * the first of their calls; the others are then sent alone.
 */
export function batchRequests(
  batched: (route: BatchRoute, body: string, bounds: Bounds) => Promise<Attempt>,
  whole: Bounds,
): (joined: Joined) => Promise<Attempt> {
  const lanes = new Map<BatchRoute, Waiting[]>();
  /** Routes that a server did not know, or does not let this caller use. */
  const unknown = new Set<BatchRoute>();

  function answerOf(route: BatchRoute, answer: Json | undefined): Attempt | undefined {
    if (!isObject(answer)) return undefined;
    if (route === 'batch-put') {
      const { reason, ...more } = answer;
      // Only an unconfirmed outcome needs a problem: of others, the answer to a single put says no more.
      if (answer['outcome'] !== 'unavailable') return attemptOf(200, answer);
      return attemptOf(503, { code: 'unavailable', detail: `Not confirmed, repeat it: ${String(reason)}`, ...more });
    }
    return isObject(answer['body']) ? attemptOf(Number(answer['status']), answer['body']) : undefined;
  }

  async function send(route: BatchRoute, all: readonly Waiting[]): Promise<void> {
    const some = all.filter(({ bounds }) => !isOver(bounds));
    // The callers of these have already been rejected.
    for (const one of all)
      if (!some.includes(one)) one.resolve(noAnswer('No answer yet: the time of the call is up', null));
    const [only, ...others] = some;
    if (only && others.length === 0) return only.resolve(only.alone());
    const { asked, answered } = KINDS[route];
    const body = `{"${asked}":[${some.map(({ item }) => item).join(',')}]}`;
    // If the batch cannot be signed, or its answer read, each call fails alone.
    const bounds = route === 'batch-put' ? first(some, whole) : whole;
    const attempt = await batched(route, body, bounds).catch(() => undefined);
    const answers = attempt?.reply?.json[answered];
    if (UNKNOWN.includes(attempt?.error?.code)) unknown.add(route);
    for (const [position, { alone, resolve }] of some.entries()) {
      const answer = answerOf(route, Array.isArray(answers) ? (answers as readonly Json[])[position] : undefined);
      if (answer) resolve(answer);
      // Each may be retried alone, after a pause, within the budget.
      else if (attempt?.error && attempt.again && !isOver(bounds)) resolve(attempt);
      else resolve(alone());
    }
  }

  function sendAll(route: BatchRoute): void {
    const waiting = lanes.get(route) ?? [];
    lanes.delete(route);
    for (const some of slicesOf(waiting, KINDS[route].most)) void send(route, some);
  }

  return (joined) => {
    const { route, alone } = joined;
    if (unknown.has(route)) return alone();
    return new Promise((resolve) => {
      const waiting = lanes.get(route);
      if (waiting) waiting.push({ ...joined, resolve });
      else {
        lanes.set(route, [{ ...joined, resolve }]);
        // After all calls of this turn, from any connection.
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
