import { Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Construct } from 'constructs';
import { acknowledgeVersions } from './evidence.ts';

/**
 * Starts a function each minute, the finest that schedules can; it loops until its successor has taken over.
 *
 * @param input of each start @default what a schedule says of itself
 */
export function startEachMinute(scope: Construct, id: string, target: IFunction, input?: object): Schedule {
  return startRegularly(scope, id, target, { every: Duration.minutes(1), said: 'each minute', input });
}

interface Rate {
  /** Whole minutes. */
  readonly every: Duration;
  /** How the description of the schedule says that. */
  readonly said: string;
  /** @default what a schedule says of itself */
  readonly input?: object | undefined;
}

/**
 * Starts a function at a rate. A start that fails is not repeated: the next one comes anyway, and a day's worth of
 * retries (the default) would pile up.
 */
export function startRegularly(
  scope: Construct,
  id: string,
  target: IFunction,
  { every, said, input }: Rate,
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
    description: `Starts ${target.node.id} ${said}${input ? `, ${JSON.stringify(input)}` : ''}`,
  });
}
