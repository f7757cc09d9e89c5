import { Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Construct } from 'constructs';
import { acknowledgeVersions } from './evidence.ts';

interface Rate {
  readonly every?: Duration;
  readonly rateText?: string;
  readonly input?: object;
}

/**
 * Starts a function at a rate; by default each minute, the shortest: it loops until its successor takes over. A failed
 * start is not repeated.
 */
export function startRegularly(
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
