import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { triggerHandler, type TriggerHandler } from './trigger-handler.ts';

export interface TriggerSource {
  /** The name of the trigger that it is deployed for. */
  readonly trigger: string;
  /** As the definition says it. */
  readonly file: string;
  readonly load: () => Promise<object>;
}

type SqsHandler = (
  event: SQSEvent,
  lambda: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>,
) => Promise<SQSBatchResponse>;

/** A module that takes longer to load is given up: what it waits for, as a secret, may never come. */
const LOAD_MS = 10_000;

/**
 * The handler of a trigger's bundle: loads the function's module with the first call. One that cannot be loaded, has no
 * handler, or is the function of another trigger fails each message with that error, as a function that throws it
 * would: it is counted, shown and parked. A module that failed while Lambda starts an instance would fail outside of
 * all of that: messages would come back again and again, and nothing would show why.
 *
 * A module is loaded once in a process, and what kept it from loading may have passed since: an instance whose messages
 * all went back for that ends, in place of an answer, and the next one loads it anew. Where some of them are done, as
 * one that is parked, it answers, so that they leave the queue.
 *
 * An event without messages, which no queue makes, only loads it: it throws why that fails.
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

/** Also one that is written without `triggerHandler`, which names no trigger. */
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
