import type { TriggerDefinition } from '../../shared/definitions/definitions.ts';

/** A trigger from the start of the logs, of every column unless said otherwise. */
export function triggerNamed(name: string, more: Partial<TriggerDefinition> = {}): TriggerDefinition {
  return { name, start: 'start', maxAttempts: 5, stopAfterParked: 100, timeoutSeconds: 30, ...more };
}
