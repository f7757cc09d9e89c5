import { randomUUID } from 'node:crypto';
import type { FunctionDefinition, FunctionMode } from './function-definition.ts';
import type { FunctionResult } from './function-result.ts';
import { startInstance, type Instance } from './instance.ts';
import { READY, type AnswerMessage } from './messages.ts';

interface FunctionPoolOptions {
  readonly definition: FunctionDefinition;
  readonly mode: FunctionMode;
  readonly environment: Record<string, string>;
  /** Calls that an instance takes at once. Sharing one is cheaper where functions wait for MySQL. */
  readonly atOnce: number;
  /** Ends an instance after so long without a call; 0 = never. */
  readonly idleMs: number;
  readonly onOutput: (chunk: Buffer, instance: number) => void;
}

export interface CallCounts {
  /** Includes open calls. */
  readonly calls: number;
  readonly failed: number;
}

export class FunctionError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = 'FunctionError';
  }
}

interface Call {
  readonly resolve: (result: FunctionResult) => void;
  readonly reject: (error: FunctionError) => void;
  timer: NodeJS.Timeout | undefined;
}

/** Idle time before an instance collects its garbage. */
const TIDY_MS = 5000;

/** Loading beyond this counts as the call's own time. */
const LOAD_MS = 10_000;

interface Member {
  readonly instance: Instance;
  readonly calls: Map<number, Call>;
  readonly loading: NodeJS.Timeout;
  resting: readonly NodeJS.Timeout[];
  /** Loaded: from then on the time of calls runs, as in Lambda. */
  ready: boolean;
  retired: boolean;
}

export type FunctionPool = ReturnType<typeof functionPool>;

export function functionPool({ definition, mode, environment, atOnce, idleMs, onOutput }: FunctionPoolOptions) {
  const { title, timeoutMs } = definition;
  const members = new Set<Member>();
  let callCount = 0;
  let failedCount = 0;
  let instanceCount = 0;
  let retired: { readonly onEmpty: () => void } | undefined;

  function invoke(event: string): Promise<FunctionResult> {
    const member = pick();
    callCount += 1;
    const id = callCount;
    wake(member);
    return new Promise((resolve, reject) => {
      member.calls.set(id, { resolve, reject, timer: member.ready ? limit(member, id) : undefined });
      member.instance.send({ id, event, requestId: randomUUID(), timeoutMs });
    });
  }

  function limit(member: Member, id: number): NodeJS.Timeout {
    return setTimeout(() => timeOut(member, id), timeoutMs);
  }

  function makeReady(member: Member): void {
    if (member.ready) return;
    member.ready = true;
    clearTimeout(member.loading);
    for (const [id, call] of member.calls) call.timer = limit(member, id);
  }

  function wake(member: Member): void {
    for (const timer of member.resting) clearTimeout(timer);
    member.resting = [];
  }

  /** The next call starts a new instance. */
  function rest(member: Member): void {
    const letGo = (): void => {
      member.retired = true;
      void member.instance.kill();
    };
    member.resting = [
      setTimeout(() => member.instance.tidy(), TIDY_MS).unref(),
      ...(idleMs > 0 ? [setTimeout(letGo, idleMs).unref()] : []),
    ];
  }

  function pick(): Member {
    return [...members].find((member) => !member.retired && member.calls.size < atOnce) ?? start();
  }

  function start(): Member {
    instanceCount += 1;
    const number = instanceCount;
    const calls = new Map<number, Call>();
    const instance = startInstance(mode, definition, environment, {
      onMessage: (message) => (message === READY ? makeReady(member) : settle(member, message)),
      onExit: (reason) => {
        clearTimeout(member.loading);
        wake(member);
        members.delete(member);
        for (const id of calls.keys())
          fail(member, id, new FunctionError(`${title} ended before it answered: ${reason}`));
        if (members.size === 0) retired?.onEmpty();
      },
      onOutput: (chunk) => onOutput(chunk, number),
    });
    const loading = setTimeout(() => makeReady(member), LOAD_MS);
    const member: Member = { instance, calls, loading, resting: [], ready: false, retired: retired !== undefined };
    members.add(member);
    rest(member);
    return member;
  }

  function settle(member: Member, message: AnswerMessage): void {
    const { id, error } = message;
    if (error === undefined) finish(member, id)?.resolve(message.result);
    else fail(member, id, new FunctionError(`${title} threw ${error.name}: ${error.message}`, { cause: error }));
  }

  function fail(member: Member, id: number, error: FunctionError): void {
    const call = finish(member, id);
    if (!call) return;
    failedCount += 1;
    call.reject(error);
  }

  function finish(member: Member, id: number): Call | undefined {
    const call = member.calls.get(id);
    if (!call) return undefined;
    clearTimeout(call.timer);
    member.calls.delete(id);
    if (member.calls.size > 0) return call;
    if (member.retired) void member.instance.kill();
    else rest(member);
    return call;
  }

  /** The instance ends after the other calls that share it. */
  function timeOut(member: Member, id: number): void {
    member.retired = true;
    const message = `${title} timed out after ${timeoutMs / 1000} seconds`;
    onOutput(Buffer.from(`${message}\n`), 0);
    fail(member, id, new FunctionError(message));
  }

  return {
    definition,
    /** Calls the function with JSON text. Rejects with a `FunctionError` if it throws, ends or times out. */
    invoke,
    /** Starts a shared instance before the first call. */
    warm() {
      if (atOnce > 1 && members.size === 0) start();
    },
    /** Ends every instance after its open calls, then calls `onEmpty`. A late call gets its own instance. */
    retire(onEmpty: () => void) {
      retired = { onEmpty };
      if (members.size === 0) onEmpty();
      for (const member of members) {
        member.retired = true;
        if (member.calls.size === 0) void member.instance.kill();
      }
    },
    /** Ends all instances at once; the next call starts new ones. */
    kill: async () => void (await Promise.all([...members].map(({ instance }) => instance.kill()))),
    pids: () => [...members].map(({ instance }) => instance.pid),
    counts: () => ({ calls: callCount, failed: failedCount }),
  };
}
