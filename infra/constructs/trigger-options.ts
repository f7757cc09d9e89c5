import type { Duration } from 'aws-cdk-lib';
import { checkTrigger } from '../../shared/definitions/check-trigger.ts';
import { DefinitionFile } from '../../shared/definitions/definition-file.ts';
import type { TriggerDefinition } from '../../shared/definitions/definitions.ts';
import { triggerYaml } from '../../shared/definitions/yaml-schemas.ts';

/** How a trigger's queue is filled, and what becomes of cells that fail. */
export interface TriggerOptions {
  /** Of the trigger, as `triggerHandler` is given it: 1 to 48 of a-z, 0-9 and _, the first a letter. For good. */
  readonly name: string;
  /**
   * Where it begins in the logs that are there: `0`, their start; `now`, their ends; or a time, inclusive. Settled once,
   * when it first runs.
   *
   * @default 0
   */
  readonly start?: 0 | 'now' | Date;
  /** So many failures of one cell, and it is parked: 1 to 100, where consumers are elsewhere to 1000. @default 5 */
  readonly maxAttempts?: number;
  /** So many cells parked now stop the trigger: 1 to 10,000. @default 100 */
  readonly stopAfterParked?: number;
  /** How often parked cells are sent again by themselves: 500 ms to 30 days. @default ten minutes */
  readonly retryParkedEvery?: Duration | 'never';
  /** How long one call for a cell may take: 1 s to 10 minutes, in whole seconds. @default 30 s */
  readonly timeout?: Duration;
}

/** What the keys of the YAML are called here. */
const OPTION_OF_KEY: Readonly<Record<string, string>> = {
  trigger: 'name',
  max_attempts: 'maxAttempts',
  stop_after_parked: 'stopAfterParked',
  retry_parked_every: 'retryParkedEvery',
};

/**
 * The definition of a trigger that is made in an app, held to what the YAML of one may say.
 *
 * @param consumer what is called, for whoever looks at the trigger; left out where consumers are elsewhere
 * @throws an Error that names the option, what was wanted and what came
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
  // Keys that are undefined are left out.
  const file = new DefinitionFile(source, JSON.stringify(said), triggerYaml);
  checkTrigger(file);
  const { definition, problems } = file;
  if (definition && problems.length === 0) return definition;
  const messages = problems.map(({ message }) => message.replace(/^\w+/u, (key) => OPTION_OF_KEY[key] ?? key));
  throw new Error(`${source}: ${messages.join('; ')}`);
}
