import type { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct, IConstruct } from 'constructs';
import type { Definitions, TriggerDefinition } from '../../shared/definitions/definitions.ts';
import { Canary } from './canary.ts';
import { connectConsumer, TriggerFunction, triggerFunctionName } from './connect-consumer.ts';
import { ExportFunction, exportOptions, type ExportOptions } from './export-function.ts';
import type { FunctionCode } from './function-code.ts';
import { Migration } from './migration.ts';
import type { SchemalessStorage } from './storage.ts';
import { StoreAlarms } from './store-alarms.ts';
import { StoreApi } from './store-api.ts';
import { StoreDashboard } from './store-dashboard.ts';
import type { StoreFunction } from './store-function.ts';
import { loopSlots } from './connection-budget.ts';
import { addAnsweringFunctions, addLoopingFunctions, type AnsweringFunctions } from './store-functions.ts';
import { TriggerQueue } from './trigger-queue.ts';
import { Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { acknowledgeVersions } from './evidence.ts';

export interface SchemalessServiceProps {
  readonly storage: SchemalessStorage;
  /** With the environment's shard counts. */
  readonly definitions: Definitions;
  readonly code: FunctionCode;
}

/** The parts that each deployment replaces: functions, API, queues, schedules, migration. Fills a scope. */
export class SchemalessService {
  readonly storage: SchemalessStorage;
  readonly api: StoreApi;
  private readonly scope: Construct;
  private readonly code: FunctionCode;
  private readonly given: Definitions;
  private readonly queues: TriggerQueue[] = [];
  private readonly exports: ExportFunction[] = [];
  private readonly answering: AnsweringFunctions;
  private readonly tailShards: StoreFunction;
  private isTailing = false;
  private readonly migration: Migration;
  private readonly alarms: StoreAlarms;
  private readonly dashboard: StoreDashboard;

  constructor(scope: Construct, { storage, definitions, code }: SchemalessServiceProps) {
    this.scope = scope;
    const { environment } = storage;
    this.storage = storage;
    // Storage takes longest, so its preflight also checks the service.
    storage.preflight?.include(scope);
    this.code = code;
    this.given = definitions;
    this.answering = addAnsweringFunctions(scope, { storage, code });
    const looping = addLoopingFunctions(scope, { storage, code });
    this.tailShards = looping['tail-shards'];
    this.migration = new Migration(scope, 'migration', {
      storage,
      definitions: () => this.definitions,
      triggers: () => this.queues,
      code: code.own('migrate'),
    });
    const canary = environment.canaryMinutes && new Canary(scope, 'canary', this.answering);
    this.api = new StoreApi(scope, 'http', { environment, functions: canary ? canary.functions : this.answering });
    const { api } = this.api;
    this.alarms = new StoreAlarms(scope, 'alarms', storage, api);
    this.dashboard = new StoreDashboard(scope, 'dashboard', storage, api);
    const slots = loopSlots(environment);
    this.startSlots('drain', looping['drain-buffer'], slots);
    this.startSlots('repair', looping['maintenance'], slots);
    this.startSlots('move', looping['move-shards'], 1);
    const functions = [...Object.values(this.answering), ...Object.values(looping)];
    for (const called of functions) this.look(called.node.id, called);
    if (canary && environment.canaryMinutes) canary.leadOver(environment.canaryMinutes, [this.alarms.serverErrors]);
    for (const part of [...functions, ...(canary ? canary.parts : []), this.api]) this.startAfterMigration(part);
    if (environment.definedByApi) this.startTailing();
    for (const { name, triggers } of definitions.datastores)
      for (const definition of triggers) this.addTrigger(name, definition);
  }

  /** Includes added triggers. */
  get definitions(): Definitions {
    const { datastores } = this.given;
    return {
      ...this.given,
      datastores: datastores.map((datastore) => ({
        ...datastore,
        triggers: this.triggersOf(datastore.name).map(({ definition }) => definition),
      })),
    };
  }

  triggersOf(datastore: string): readonly TriggerQueue[] {
    return this.queues.filter((queue) => queue.datastore === datastore);
  }

  addTrigger(datastore: string, definition: TriggerDefinition): TriggerQueue {
    const id = `queue-${datastore}-${definition.name}`;
    const trigger = new TriggerQueue(this.scope, id, this.storage, datastore, definition);
    this.startTailing();
    this.queues.push(trigger);
    trigger.grantManagement(this.answering['manage-triggers']);
    trigger.grantSending(this.tailShards);
    this.alarms.addTrigger(trigger);
    this.dashboard.addTrigger(trigger);
    if (definition.function !== undefined && this.code.ofTrigger) this.addTriggerFunction(trigger, this.code.ofTrigger);
    return trigger;
  }

  /** Throws an Error that names the option. */
  addExport(datastore: string, bucket: IBucket, desired: ExportOptions): ExportFunction {
    const options = exportOptions(datastore, desired);
    const id = `export-${datastore}-${options.name}`;
    const same = this.exports.find(
      ({ node, location }) => node.id === id || location === `s3://${bucket.bucketName}/${options.prefix}`,
    );
    if (same)
      throw new Error(
        `export ${options.name} of ${datastore}: wanted a name and a place of its own, got one of ${same.node.path}`,
      );
    const { scope, storage, api } = this;
    const code = this.code.own('export-cells');
    const added = new ExportFunction(scope, id, { storage, api, datastore, bucket, options, code });
    this.exports.push(added);
    this.startAfterMigration(added);
    this.dashboard.addFunction(id, added);
    if (!storage.environment.schedules) return added;
    const rateText = `every ${options.every.toHumanString()}`;
    this.startAfterMigration(startRegularly(scope, `${id}-schedule`, added, { every: options.every, rateText }));
    this.alarms.addExport(id, { datastore, location: added.location, every: options.every });
    return added;
  }

  connect(trigger: TriggerQueue, called: IFunction, fn: LambdaFunction, maxConcurrency?: number): void {
    const { storage, api } = this;
    this.startAfterMigration(connectConsumer(called, fn, { storage, api, trigger, maxConcurrency }));
  }

  /** With the first trigger, or at once if the API defines triggers. */
  private startTailing(): void {
    if (this.isTailing) return;
    this.isTailing = true;
    const { tailShards } = this;
    const { schedules, tailers } = this.storage.environment;
    this.alarms.addLoop(tailShards.node.id, tailShards);
    for (let slot = 0; slot < (schedules ? tailers : 0); slot += 1)
      this.startAfterMigration(startRegularly(this.scope, `tail-${slot}`, tailShards, { input: { slot } }));
  }

  /** Starts each slot of a function that divides its work. One alone takes no input. */
  private startSlots(id: string, loop: StoreFunction, of: number): void {
    this.alarms.addLoop(loop.node.id, loop, of);
    for (let slot = 0; slot < (this.storage.environment.schedules ? of : 0); slot += 1) {
      const rate = of === 1 ? {} : { input: { slot, of } };
      this.startAfterMigration(startRegularly(this.scope, slot === 0 ? id : `${id}-${slot}`, loop, rate));
    }
  }

  private addTriggerFunction(trigger: TriggerQueue, codeOf: NonNullable<FunctionCode['ofTrigger']>): void {
    const name = triggerFunctionName(trigger);
    const { storage, api } = this;
    const added = new TriggerFunction(this.scope, name, { storage, api, trigger, code: codeOf(name) });
    this.look(name, added);
    this.startAfterMigration(added);
  }

  private look(name: string, called: IFunction): void {
    this.alarms.addFunction(name, called);
    this.dashboard.addFunction(name, called);
  }

  /** Parts wait for the databases, tables and users that their code needs. */
  private startAfterMigration(part: IConstruct): void {
    part.node.addDependency(this.migration.resource);
  }
}

interface Rate {
  readonly every?: Duration;
  readonly rateText?: string;
  readonly input?: object;
}

/**
 * Starts a function at a rate; by default each minute, the shortest: it loops until its successor takes over. A failed
 * start is not repeated.
 */
function startRegularly(
  scope: Construct,
  id: string,
  target: IFunction,
  { every = Duration.minutes(1), rateText = 'each minute', input }: Rate = {},
): Schedule {
  const role = new Role(scope, `${id}-role`, {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com'),
    description: `Starts ${target.node.id}`,
  });
  acknowledgeVersions(role, target);
  return new Schedule(scope, id, {
    schedule: ScheduleExpression.rate(every),
    target: new LambdaInvoke(target, {
      role,
      retryAttempts: 0,
      maxEventAge: Duration.minutes(1),
      ...(input && { input: ScheduleTargetInput.fromObject(input) }),
    }),
    description: `Starts ${target.node.id} ${rateText}${input ? `, ${JSON.stringify(input)}` : ''}`,
  });
}
