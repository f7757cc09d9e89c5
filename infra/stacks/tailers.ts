import type { Schedule } from 'aws-cdk-lib/aws-scheduler';
import type { Construct } from 'constructs';
import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import type { EnvironmentProps } from '../environments.ts';
import { grantAppliedQueues } from './applied-queues.ts';
import { startEachMinute } from './each-minute.ts';
import type { StoreFunction } from './store-function.ts';
import type { TriggerQueue } from './trigger-queue.ts';

export interface TailersProps {
  readonly environment: EnvironmentProps;
  /** `tail-shards`. */
  readonly target: StoreFunction;
  /** How many work side by side. */
  readonly count: number;
  readonly triggers: readonly TriggerQueue[];
  /** Whether there is anything to tail, and schedules at all. */
  readonly isStarted: boolean;
}

/**
 * The workers that send cells to the queues of the triggers: one function, started by a schedule for each slot, so that
 * each slot has a successor each minute. Returns the schedules.
 */
export function startTailers(
  scope: Construct,
  { environment, target, count, triggers, isStarted }: TailersProps,
): readonly Schedule[] {
  target.grantState();
  // Who notices that a log was cut raises the shard's epoch.
  target.grantTopologyWrites();
  target.addEnvironment(ENVIRONMENT_VARIABLES.tailers, String(count));
  for (const { queue, parked } of triggers) {
    queue.grantSendMessages(target);
    // Whether SQS gave up on messages.
    parked.grant(target, 'sqs:GetQueueAttributes');
  }
  if (environment.definedByApi) grantAppliedQueues(target, environment, 'send');
  return Array.from({ length: isStarted ? count : 0 }, (_, slot) =>
    startEachMinute(scope, `tail-${slot}`, target, { slot }),
  );
}
