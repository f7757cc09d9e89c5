import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { appliedQueuePrefix } from '../../shared/granted-names.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { acknowledgePrefix } from './evidence.ts';
import { LOOK_AT_QUEUE, MAKE_QUEUE, SEND_TO_QUEUE, TAKE_FROM_QUEUE } from './queue-actions.ts';

/** Actions on queues made through the API, by the end of their names. */
const ACTIONS = {
  send: { '*': SEND_TO_QUEUE },
  manage: {
    '*': LOOK_AT_QUEUE,
    '*-dead.fifo': TAKE_FROM_QUEUE,
  },
  make: { '*': MAKE_QUEUE },
} as const;

/** Allows a function these actions on all queues with the environment's prefix. */
export function grantAppliedQueues(
  grantee: LambdaFunction,
  environment: StoreEnvironment,
  how: keyof typeof ACTIONS,
): void {
  for (const [end, actions] of Object.entries<readonly string[]>(ACTIONS[how])) {
    const resource = `${appliedQueuePrefix(environment.name)}${end}`;
    const arn = Stack.of(grantee).formatArn({ service: 'sqs', resource });
    grantee.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [arn] }));
    acknowledgePrefix(grantee, arn);
  }
}
