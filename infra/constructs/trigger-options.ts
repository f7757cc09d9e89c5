import type { Duration } from 'aws-cdk-lib';
import { checkTrigger } from '../../shared/definitions/check-trigger.ts';
import { DefinitionFile } from '../../shared/definitions/definition-file.ts';
import type { TriggerDefinition } from '../../shared/definitions/definitions.ts';
import { triggerYaml } from '../../shared/definitions/yaml-schemas.ts';

export interface TriggerOptions {
  /** The name for `triggerHandler`: 1 to 48 of a-z, 0-9 and _, the first a letter. Fixed. */
  readonly name: string;
  /** Where it begins in existing logs: `0`, `now`, or an inclusive time. Settled at its first run. @default 0 */
  readonly start?: 0 | 'now' | Date;
  /** Failures before a cell is parked: 1 to 100, with consumers elsewhere to 1000. @default 5 */
  readonly maxAttempts?: number;
  /** Parked cells that stop the trigger: 1 to 10,000. @default 100 */
  readonly stopAfterParked?: number;
  /** Interval of automatic retries of parked cells: 500 ms to 30 days. @default ten minutes */
  readonly retryParkedEvery?: Duration | 'never';
  /** Limit of a call for a cell: 1 s to 10 minutes, in whole seconds. @default 30 s */
  readonly timeout?: Duration;
}

/** YAML keys and their options. */
const OPTION_OF_KEY: Readonly<Record<string, string>> = {
  trigger: 'name',
  max_attempts: 'maxAttempts',
  stop_after_parked: 'stopAfterParked',
  retry_parked_every: 'retryParkedEvery',
};

/**
 * Checks a trigger's options by the rules of its YAML. Throws an Error that names the option. `consumer`: shown to
 * operators; undefined with consumers elsewhere.
 */
export function triggerDefinition(
  datastore: string,
  columns: string | readonly string[],
  { name, start, maxAttempts, stopAfterParked, retryParkedEvery, timeout }: TriggerOptions,
  consumer?: string,
): TriggerDefinition {
  const said = {
    trigger: name,
    datastore,
    columns: typeof columns === 'string' && columns !== '*' ? [columns] : columns,
    function: consumer,
    start: start instanceof Date ? start.toISOString() : start,
    max_attempts: maxAttempts,
    stop_after_parked: stopAfterParked,
    retry_parked_every:
      typeof retryParkedEvery === 'object' ? `${retryParkedEvery.toMilliseconds()}ms` : retryParkedEvery,
    timeout: timeout && `${timeout.toMilliseconds()}ms`,
  };
  const source = `trigger ${String(name)} of ${datastore}`;
  // JSON omits undefined keys.
  const file = new DefinitionFile(source, JSON.stringify(said), triggerYaml);
  checkTrigger(file);
  const { definition, problems } = file;
  if (definition && problems.length === 0) return definition;
  const messages = problems.map(({ message }) => message.replace(/^\w+/u, (key) => OPTION_OF_KEY[key] ?? key));
  throw new Error(`${source}: ${messages.join('; ')}`);
}
