/** The exports of `@schemaless-store/schemaless/triggers`. */
export {
  PermanentFailure,
  triggerHandler,
  type TriggerCall,
  type TriggerFunction,
  type TriggerHandler,
  type TriggerHandlerOptions,
  type TriggerMessage,
} from './trigger-handler.ts';
export { consume, type ConsumeOptions } from './consume.ts';
