import { LIMITS, type Json } from '../cell.ts';
import type { Attempt } from './attempt.ts';
import { isJsonObject } from './problem.ts';

/** A route that answers many reads of a kind at once. */
export type BatchRoute = 'batch-read' | 'batch-query';

export interface JoinedAsk {
  /** Sends reads in one request, once. */
  readonly together: (route: BatchRoute, targets: readonly string[]) => Promise<Attempt>;
  /** Sends a read by itself, once. */
  readonly alone: (target: string) => Promise<Attempt>;
  /** What the answer to a read means that came among others. */
  readonly attemptOf: (status: number, body: { readonly [member: string]: Json }) => Attempt;
}

interface Waiting {
  readonly target: string;
  readonly resolve: (attempt: Attempt | Promise<Attempt>) => void;
}

/**
 * Reads of one request. Answers to queries are long: of a quarter as many some are read here while others are made
 * there.
 */
const TOGETHER: Readonly<Record<BatchRoute, number>> = {
  'batch-read': LIMITS.batchReads,
  'batch-query': LIMITS.batchReads / 4,
};
const UNKNOWN: readonly (string | undefined)[] = ['unknown_route', 'denied'];

/**
 * Sends the reads that a program begins in the same turn of its event loop in one request: most of what a small read
 * costs is its request. Nobody waits for others to come, and what comes alone goes alone. A read that the server was
 * not done with soon after another, or had no room for, is asked for alone.
 */
export function joinReads({
  together,
  alone,
  attemptOf,
}: JoinedAsk): (route: BatchRoute, target: string) => Promise<Attempt> {
  const lanes = new Map<BatchRoute, Waiting[]>();
  /** False once a server did not know these routes, or does not let this caller use them. */
  let isKnown = true;

  async function send(route: BatchRoute, some: readonly Waiting[]): Promise<void> {
    const [only, ...others] = some;
    if (only && others.length === 0) return only.resolve(alone(only.target));
    // What cannot be signed, or read, fails each of them by itself.
    const attempt = await together(
      route,
      some.map(({ target }) => target),
    ).catch(() => undefined);
    const answers = attempt?.reply?.json['answers'];
    if (UNKNOWN.includes(attempt?.error?.code)) isKnown = false;
    for (const [position, { target, resolve }] of some.entries()) {
      const answer = Array.isArray(answers) ? (answers as readonly Json[])[position] : undefined;
      if (isJsonObject(answer) && isJsonObject(answer['body']))
        resolve(attemptOf(Number(answer['status']), answer['body']));
      // Each may be tried again by itself, after a pause, as far as the budget goes.
      else if (attempt?.error && attempt.again) resolve(attempt);
      else resolve(alone(target));
    }
  }

  function sendAll(route: BatchRoute): void {
    const waiting = lanes.get(route) ?? [];
    lanes.delete(route);
    const most = TOGETHER[route];
    for (let start = 0; start < waiting.length; start += most) void send(route, waiting.slice(start, start + most));
  }

  return (route, target) => {
    if (!isKnown) return alone(target);
    return new Promise((resolve) => {
      const waiting = lanes.get(route);
      if (waiting) waiting.push({ target, resolve });
      else {
        lanes.set(route, [{ target, resolve }]);
        // Once everybody is here who comes in this turn, from any connection.
        setImmediate(() => sendAll(route));
      }
    });
  };
}
