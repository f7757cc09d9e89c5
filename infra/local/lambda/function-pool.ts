import { randomUUID } from 'node:crypto';
import type { FunctionDefinition, FunctionMode } from './function-definition.ts';
import type { FunctionResult } from './function-result.ts';
import { startInstance, type Instance } from './instance.ts';
import { READY, type AnswerMessage } from './messages.ts';

interface FunctionPoolOptions {
  readonly definition: FunctionDefinition;
  readonly mode: FunctionMode;
  readonly environment: Record<string, string>;
  /**
   * How many instances share all calls, each answering many at once. Lambda gives an instance one call at a time; for
   * functions that mostly wait for MySQL, sharing an event loop is as good, and far cheaper on one machine.
   * Undefined: one call per instance, as many instances as calls, as Lambda has it.
   */
  readonly shared: number | undefined;
  /** An instance that is not called for so long is let go, as Lambda does; 0 = never. */
  readonly idleMs: number;
  readonly onOutput: (chunk: Buffer, instance: number) => void;
}

export interface FunctionPool {
  readonly definition: FunctionDefinition;
  /**
   * Calls the function; takes JSON text. Rejects with a `FunctionError` when it throws, ends, or runs out
   * of its time.
   */
  invoke(event: string): Promise<FunctionResult>;
  /** Starts the shared instances before they are called, so that no caller waits for them to load. */
  warm(): void;
  /** Ends all instances at once, as a crash would; the next call starts new ones. */
  kill(): Promise<void>;
  /**
   * Another version of the function takes over: lets go every instance once its calls are answered. Who calls all the
   * same is answered by an instance of its own.
   *
   * @param onEmpty called when none is left
   */
  retire(onEmpty: () => void): void;
  /** The process of each instance. */
  pids(): readonly number[];
  /** So far, since it was made. */
  counts(): CallCounts;
}

export interface CallCounts {
  /** Those under way too. */
  readonly calls: number;
  /** That threw, ran out of their time, or whose instance ended. */
  readonly failed: number;
}

/** A call that the function did not answer with a result. */
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

/** An instance that is not called for so long gives back what it does not need. */
const TIDY_MS = 5000;

/** A bundle that takes longer to load takes it from the time of its calls. */
const LOAD_MS = 10_000;

interface Member {
  readonly instance: Instance;
  readonly calls: Map<number, Call>;
  readonly loading: NodeJS.Timeout;
  /** What becomes of it while nobody calls it; none while somebody does. */
  resting: readonly NodeJS.Timeout[];
  /** Its bundle is loaded; from then on the time of calls runs, as Lambda leaves out the time that loading takes. */
  ready: boolean;
  /** Takes no more calls, and goes when it has none. */
  retired: boolean;
}

export function functionPool({
  definition,
  mode,
  environment,
  shared,
  idleMs,
  onOutput,
}: FunctionPoolOptions): FunctionPool {
  const { title, timeoutMs } = definition;
  const members = new Set<Member>();
  let callCount = 0;
  let failedCount = 0;
  let instanceCount = 0;
  let turn = 0;
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

  /** Whoever has been let go is started again by the next call. */
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
    const free = [...members].filter((member) => !member.retired && (shared !== undefined || member.calls.size === 0));
    if (free.length < (shared ?? 1)) return start();
    turn += 1;
    return free[turn % free.length] ?? start();
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

  /** What runs over its time goes, but the other calls that share the instance may end first. */
  function timeOut(member: Member, id: number): void {
    member.retired = true;
    const message = `${title} timed out after ${timeoutMs / 1000} seconds`;
    onOutput(Buffer.from(`${message}\n`), 0);
    fail(member, id, new FunctionError(message));
  }

  return {
    definition,
    invoke,
    warm() {
      while (members.size < (shared ?? 0)) start();
    },
    retire(onEmpty) {
      retired = { onEmpty };
      if (members.size === 0) onEmpty();
      for (const member of members) {
        member.retired = true;
        if (member.calls.size === 0) void member.instance.kill();
      }
    },
    kill: async () => void (await Promise.all([...members].map(({ instance }) => instance.kill()))),
    pids: () => [...members].map(({ instance }) => instance.pid),
    counts: () => ({ calls: callCount, failed: failedCount }),
  };
}
