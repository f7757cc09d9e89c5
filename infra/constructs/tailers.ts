import type { Schedule } from 'aws-cdk-lib/aws-scheduler';
import type { Construct } from 'constructs';
import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import { grantAppliedQueues } from './applied-queues.ts';
import { startEachMinute } from './each-minute.ts';
import { TAIL_ITEMS, TAILED_TOPOLOGY } from './granted-items.ts';
import type { StoreEnvironment } from './store-environment.ts';
import type { StoreFunction } from './store-function.ts';
import type { TriggerQueue } from './trigger-queue.ts';

interface TailersProps {
  readonly environment: StoreEnvironment;
  readonly target: StoreFunction;
}

/** The workers that send cells to queues: one function, a schedule for each slot; nothing without triggers. */
export class Tailers {
  private readonly scope: Construct;
  private readonly props: TailersProps;
  private isTailing = false;

  constructor(scope: Construct, props: TailersProps) {
    this.scope = scope;
    this.props = props;
    const { environment, target } = props;
    target.grantState(TAIL_ITEMS);
    // A cut log raises the shard's epoch.
    target.grantTopologyWrites(TAILED_TOPOLOGY);
    target.addEnvironment(ENVIRONMENT_VARIABLES.tailers, String(environment.tailers));
    if (environment.definedByApi) grantAppliedQueues(target, environment, 'send');
  }

  addTrigger(trigger: TriggerQueue): void {
    trigger.grantSending(this.props.target);
  }

  /** Returns the new schedules; none if they exist already or are off. */
  start(): readonly Schedule[] {
    const { environment, target } = this.props;
    const slots = this.isTailing || !environment.schedules ? 0 : environment.tailers;
    this.isTailing = true;
    return Array.from({ length: slots }, (_, slot) => startEachMinute(this.scope, `tail-${slot}`, target, { slot }));
  }
}
