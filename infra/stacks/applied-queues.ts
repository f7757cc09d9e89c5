import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { appliedQueuePrefix } from '../../shared/migrate/applied-queues.ts';
import type { EnvironmentProps } from '../environments.ts';
import { acknowledgePrefix } from './evidence.ts';

/** What is done with the queues of triggers that were made through the API, as with those of a deployment. */
const ACTIONS = {
  send: ['sqs:SendMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'],
  manage: [
    'sqs:GetQueueAttributes',
    'sqs:GetQueueUrl',
    'sqs:ReceiveMessage',
    'sqs:DeleteMessage',
    'sqs:ChangeMessageVisibility',
  ],
  make: ['sqs:CreateQueue', 'sqs:SetQueueAttributes', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:DeleteQueue'],
} as const;

/** Lets a function do that with all queues whose names begin as theirs do, and with no others. */
export function grantAppliedQueues(
  grantee: LambdaFunction,
  environment: EnvironmentProps,
  how: keyof typeof ACTIONS,
): void {
  const arn = Stack.of(grantee).formatArn({ service: 'sqs', resource: `${appliedQueuePrefix(environment.name)}*` });
  grantee.addToRolePolicy(new PolicyStatement({ actions: [...ACTIONS[how]], resources: [arn] }));
  acknowledgePrefix(grantee, arn);
}
