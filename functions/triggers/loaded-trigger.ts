import { triggerHandler, type SqsHandler, type TriggerHandler } from './trigger-handler.ts';

export interface TriggerSource {
  readonly trigger: string;
  readonly file: string;
  readonly load: () => Promise<object>;
}

/** The time after which loading fails: the module may wait for a secret that never comes, for example. */
const LOAD_MS = 10_000;

/**
 * Makes the handler of a trigger's bundle, which loads the module at the first call. If the module does not load, has
 * no handler, or belongs to another trigger, each message fails with that error: it is counted, shown and parked. A
 * failure while Lambda starts an instance would only return messages repeatedly.
 *
 * The cause may be temporary: if all messages returned for it, the instance exits without an answer, and the next one
 * reloads the module. If some are done, such as a parked one, it answers, so that they leave the queue.
 *
 * An event without messages only loads the module, and throws the error of that.
 */
export function loadedTrigger({ trigger, file, load }: TriggerSource): SqsHandler {
  let loading: Promise<{ readonly handler: SqsHandler; readonly error?: unknown }> | undefined;

  async function open(): Promise<{ readonly handler: SqsHandler; readonly error?: unknown }> {
    try {
      return { handler: handlerOf(await inTime(load(), file), trigger, file) };
    } catch (error) {
      const fail = (): never => {
        throw error;
      };
      return { handler: triggerHandler(trigger, fail), error };
    }
  }

  return async (event, lambda) => {
    loading ??= open();
    const { handler, error } = await loading;
    if (event.Records.length === 0) {
      if (error !== undefined) throw error;
      return { batchItemFailures: [] };
    }
    const answer = await handler(event, lambda);
    if (error !== undefined && answer.batchItemFailures.length === event.Records.length) process.exit(1);
    return answer;
  };
}

async function inTime(loading: Promise<object>, file: string): Promise<object> {
  const timeUp = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => timeUp.reject(new Error(`${file}: it did not load within ${LOAD_MS / 1000} s`)),
    LOAD_MS,
  );
  try {
    return await Promise.race([loading, timeUp.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Accepts a handler made without `triggerHandler`, which names no trigger. */
function handlerOf(module: object, trigger: string, file: string): SqsHandler {
  const { handler }: { readonly handler?: SqsHandler & Partial<TriggerHandler> } = module;
  if (typeof handler !== 'function')
    throw new Error(
      `${file}: wanted an exported handler made by triggerHandler, got ${handler === undefined ? 'none' : typeof handler}`,
    );
  if (handler.trigger !== undefined && handler.trigger !== trigger)
    throw new Error(`${file}: wanted the function of trigger ${trigger}, got that of ${handler.trigger}`);
  return handler;
}
