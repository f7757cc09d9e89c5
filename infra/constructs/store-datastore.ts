import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { operationsFor, type OperationName } from '../../shared/api/operations.ts';
import type { ExportFunction, ExportOptions } from './export-function.ts';
import { consumingFunction, triggerFunctionName } from './connect-consumer.ts';
import type { SchemalessService } from './service.ts';
import { Alarms } from './alarms.ts';
import { triggerDefinition, type TriggerOptions } from './given-definitions.ts';
import type { TriggerQueue } from './trigger-queue.ts';

export interface ConsumerOptions {
  /** Concurrent batches, 2 to 1000. @default 50 */
  readonly maxConcurrency?: number;
}

/** One datastore of a store: its callers and consumers. */
export class SchemalessDatastore {
  readonly name: string;
  private readonly service: SchemalessService;

  constructor(name: string, service: SchemalessService) {
    this.name = name;
    this.service = service;
  }

  /**
   * Calls a function for every cell of some columns, at least once and in the order of the shard's log.
   * `triggerHandler` of `@schemaless-store/schemaless/triggers` makes its handler, with the name that is given here.
   *
   * The function gets the trigger's queue as its event source, and the variables that the handler reads. It may take
   * its messages, keep state, and read and write cells of this datastore. It stays in its own stack, which then
   * depends on the store's.
   *
   *     store.datastore('trips').onCell('BASE', billRider, { name: 'bill_rider', start: 'now' });
   *
   * @param columns one, several, or `*` for all
   * @throws an Error that names the option or the function, what was wanted and what came
   */
  onCell(columns: string | readonly string[], fn: IFunction, options: TriggerOptions & ConsumerOptions): TriggerQueue {
    const trigger = this.add(columns, options, fn.node.path);
    this.connect(trigger, fn, options);
    return trigger;
  }

  /** Calls a function for a YAML trigger without one. Throws an Error if it is unknown, or has a function. */
  onTrigger(name: string, fn: IFunction, options: ConsumerOptions = {}): TriggerQueue {
    const trigger = this.trigger(name);
    if (trigger.definition.function === undefined)
      throw new Error(
        `trigger ${name} of ${this.name}: wanted a definition with function, since without one its consumers are elsewhere, got none`,
      );
    this.connect(trigger, fn, options);
    return trigger;
  }

  /** Fills a queue for consumers outside Lambda: read `queue` of the result. Throws as `onCell`. */
  queueFor(columns: string | readonly string[], options: TriggerOptions): TriggerQueue {
    return this.add(columns, options);
  }

  trigger(name: string): TriggerQueue {
    const triggers = this.service.triggersOf(this.name);
    const found = triggers.find(({ definition }) => definition.name === name);
    if (found) return found;
    const names = triggers.map(({ definition }) => definition.name).join(', ');
    throw new Error(
      `datastore ${this.name}: wanted one of its triggers (${names === '' ? 'none' : names}), got ${name}`,
    );
  }

  /**
   * Writes its cells to a bucket by a schedule: first all of them, then what came since, as parts with manifests that
   * `schemaless export --check` proves and `schemaless import` reads. The function may write below the prefix alone,
   * and
   * encrypt with the bucket's key.
   *
   *     store.datastore('trips').exportTo(lake, { format: 'parquet', every: Duration.hours(1) });
   *
   * @param bucket of this app, or imported, then with its key if it has one
   * @returns the function; `location` is where the export is
   * @throws an Error that names the option, what was wanted and what came
   */
  exportTo(bucket: IBucket, options: ExportOptions = {}): ExportFunction {
    return this.service.addExport(this.name, bucket, options);
  }

  /** Allows reading cells, logs and indexes, and viewing triggers. */
  grantRead(grantee: IGrantable): Grant {
    return this.grant(grantee, operationsFor('readers'));
  }

  /** Allows reading and writing cells, and querying indexes. */
  grantWrite(grantee: IGrantable): Grant {
    return this.grant(grantee, operationsFor('clients'));
  }

  private grant(grantee: IGrantable, operations: readonly OperationName[]): Grant {
    return this.service.api.grantCalls(grantee, this.name, operations);
  }

  private add(columns: string | readonly string[], options: TriggerOptions, consumer?: string): TriggerQueue {
    const definition = triggerDefinition(this.name, columns, options, consumer);
    if (this.service.triggersOf(this.name).some((other) => other.definition.name === definition.name))
      throw new Error(
        `trigger ${definition.name} of ${this.name}: wanted a name of its own, got that of another trigger`,
      );
    return this.service.addTrigger(this.name, definition);
  }

  private connect(trigger: TriggerQueue, called: IFunction, { maxConcurrency }: ConsumerOptions): void {
    const { consumer } = trigger;
    if (consumer)
      throw new Error(
        `trigger ${trigger.definition.name} of ${this.name}: wanted one function, got ${called.node.path} besides ${consumer.node.path}`,
      );
    const fn = consumingFunction(called, trigger);
    this.service.connect(trigger, called, fn, maxConcurrency);
    // In the function's stack, which depends on the store's.
    const alarms = new Alarms(fn, 'schemaless', this.service.storage.alarmTopics);
    alarms.addFunction(triggerFunctionName(trigger), fn);
  }
}
