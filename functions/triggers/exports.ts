/** What `import … from 'schemaless/triggers'` gives. */
export {
  PermanentFailure,
  triggerHandler,
  type TriggerCall,
  type TriggeredClient,
  type TriggerFunction,
  type TriggerHandler,
  type TriggerHandlerOptions,
  type TriggerMessage,
} from './trigger-handler.ts';
export { consume, type ConsumeOptions } from './consume.ts';
