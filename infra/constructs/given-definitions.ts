import type * as z from 'zod';
import { checkDatastore } from '../../shared/definitions/check-datastore.ts';
import { checkIndex } from '../../shared/definitions/check-index.ts';
import { checkTrigger } from '../../shared/definitions/check-trigger.ts';
import { DefinitionFile } from '../../shared/definitions/definition-file.ts';
import {
  markSealed,
  type DatastoreDefinition,
  type Definitions,
  type FieldType,
  type TriggerDefinition,
} from '../../shared/definitions/definitions.ts';
import { DefinitionsError, type Problem } from '../../shared/definitions/definitions-error.ts';
import { loadDefinitions } from '../../shared/definitions/load-definitions.ts';
import { datastoreYaml, indexYaml, triggerYaml } from '../../shared/definitions/yaml-schemas.ts';
import type { Duration } from 'aws-cdk-lib';

/** A datastore as in YAML; its parts need not name it. */
export interface GivenDatastore extends z.input<typeof datastoreYaml> {
  readonly indexes?: readonly Omit<z.input<typeof indexYaml>, 'datastore'>[];
  /** With consumers elsewhere; `onCell` adds others. */
  readonly triggers?: readonly Omit<z.input<typeof triggerYaml>, 'datastore'>[];
}

/** Reads and checks definitions. Throws one `DefinitionsError` with every problem; `warn` gets the rest. */
export function definitionsOf(given: string | readonly GivenDatastore[], warn: (warning: string) => void): Definitions {
  const tell = ({ file, line, message }: Problem): void => warn(`${file}${line > 0 ? `:${line}` : ''}: ${message}`);
  if (typeof given === 'string') return loadDefinitions(given, tell);
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const check = <Schema extends z.ZodType>(
    source: string,
    object: object,
    schema: Schema,
    further: (file: DefinitionFile<Schema>) => void = () => undefined,
  ): z.output<Schema> | undefined => {
    const file = new DefinitionFile(source, JSON.stringify(object), schema);
    further(file);
    const withoutLines = (all: readonly Problem[]): readonly Problem[] => all.map((one) => ({ ...one, line: 0 }));
    problems.push(...withoutLines(file.problems));
    warnings.push(...withoutLines(file.warnings));
    return file.definition;
  };
  const datastores = given.flatMap(({ indexes = [], triggers = [], ...datastore }, position): DatastoreDefinition[] => {
    const of = `datastores[${position}]`;
    const owned = { datastore: datastore.datastore };
    const made = check(of, datastore, datastoreYaml, checkDatastore);
    const { sealed = [] } = made ?? {};
    const types = new Map<string, FieldType>();
    const checkWhole = (index: Parameters<typeof checkIndex>[0]): void => checkIndex(index, sealed, types);
    const parts = {
      indexes: indexes
        .flatMap((index, at) => check(`${of}.indexes[${at}]`, { ...index, ...owned }, indexYaml, checkWhole) ?? [])
        .map((index) => markSealed(index, sealed)),
      triggers: triggers.flatMap(
        (trigger, at) => check(`${of}.triggers[${at}]`, { ...trigger, ...owned }, triggerYaml, checkTrigger) ?? [],
      ),
    };
    for (const [part, named] of Object.entries(parts)) problems.push(...again(`${of}.${part}`, named));
    return made ? [{ ...made, ...parts }] : [];
  });
  problems.push(...again('datastores', datastores));
  if (given.length === 0) problems.push({ file: 'datastores', line: 0, message: 'wanted one at least, got none' });
  for (const warning of warnings) tell(warning);
  if (problems.length > 0) throw new DefinitionsError('the app', problems);
  return { datastores };
}

/** Finds repeated names. */
function again(list: string, named: readonly { readonly name: string }[]): readonly Problem[] {
  return named
    .filter(({ name }, position) => named.findIndex((other) => other.name === name) < position)
    .map(({ name }) => ({ file: list, line: 0, message: `wanted each name once, got ${name} again` }));
}

export interface TriggerOptions {
  /** The name for `triggerHandler`: 1 to 48 of a-z, 0-9 and _, the first a letter. Fixed. */
  readonly name: string;
  /** The start in existing logs: `0`, `now`, or an inclusive time. Settled at its first run. @default 0 */
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
  const specified = {
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
  const file = new DefinitionFile(source, JSON.stringify(specified), triggerYaml);
  checkTrigger(file);
  const { definition, problems } = file;
  if (definition && problems.length === 0) return definition;
  const messages = problems.map(({ message }) => message.replace(/^\w+/u, (key) => OPTION_OF_KEY[key] ?? key));
  throw new Error(`${source}: ${messages.join('; ')}`);
}
