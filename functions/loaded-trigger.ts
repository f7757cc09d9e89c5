import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { triggerHandler, type TriggerHandler } from './trigger-handler.ts';

/** Where a trigger's function comes from. */
export interface TriggerSource {
  /** The name of the trigger that it is deployed for. */
  readonly trigger: string;
  /** As the definition says it. */
  readonly file: string;
  /** Loads its module. */
  readonly load: () => Promise<object>;
}

type SqsHandler = (event: SQSEvent, lambda: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>) => Promise<SQSBatchResponse>;

/**
 * The handler of a trigger's bundle: loads the function's module with the first call. One that cannot be loaded, has no
 * handler, or is the function of another trigger fails each message with that error, as a function that throws it would:
 * it is counted, shown and parked. A module that failed while Lambda starts an instance would fail outside of all of
 * that: messages would come back again and again, and nothing would show why.
 *
 * An event without messages, which no queue makes, only loads it: it throws why that fails.
 */
export function loadedTrigger({ trigger, file, load }: TriggerSource): SqsHandler {
  let loading: Promise<{ readonly handler: SqsHandler; readonly error?: unknown }> | undefined;

  async function open(): Promise<{ readonly handler: SqsHandler; readonly error?: unknown }> {
    try {
      return { handler: handlerOf(await load(), trigger, file) };
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
    if (event.Records.length > 0) return handler(event, lambda);
    if (error !== undefined) throw error;
    return { batchItemFailures: [] };
  };
}

/** Also one that is written without `triggerHandler`, which names no trigger. */
function handlerOf(module: object, trigger: string, file: string): SqsHandler {
  const { handler }: { readonly handler?: SqsHandler & Partial<TriggerHandler> } = module;
  if (typeof handler !== 'function') throw new Error(`${file}: wanted an exported handler made by triggerHandler, got ${handler === undefined ? 'none' : typeof handler}`);
  if (handler.trigger !== undefined && handler.trigger !== trigger) throw new Error(`${file}: wanted the function of trigger ${trigger}, got that of ${handler.trigger}`);
  return handler;
}
