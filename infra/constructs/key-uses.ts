import { Stack } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { AccountPrincipal, PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Key, ViaServicePrincipal, type IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { AlarmTopics } from './alarms.ts';

/**
 * A given key may belong to another stack. The CDK's grants would write each role into its policy, and the stacks would
 * wait for each other. So roles hold the rights, and the key's policy only allows this account's secrets.
 */

const READ_KEY = ['kms:Decrypt', 'kms:DescribeKey'];
const WRITE_KEY = ['kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'];

/** Wraps a key for the store: rights are on the grantees. */
export function keyForStore(scope: Construct, key: IKey): IKey {
  const { account } = Stack.of(scope);
  const secrets = new ViaServicePrincipal(viaService(scope, 'secretsmanager'), new AccountPrincipal(account));
  key.grantEncryptDecrypt(secrets);
  return Key.fromKeyArn(scope, 'key', key.keyArn);
}

/** Reports a key that is disabled or scheduled for deletion, if CloudTrail records management events. */
export function reportLostKey(scope: Construct, { keyArn }: IKey, { urgent }: AlarmTopics): Rule | undefined {
  if (urgent.length === 0) return undefined;
  const eventPattern = {
    source: ['aws.kms'],
    detailType: ['AWS API Call via CloudTrail'],
    detail: { eventName: ['DisableKey', 'ScheduleKeyDeletion'], resources: { ARN: [keyArn] } },
  };
  return new Rule(scope, 'key-lost', {
    description: 'Schemaless: its key was disabled or scheduled for deletion. See infra/docs/operations/disasters.md',
    eventPattern,
    targets: urgent.map((topic) => new SnsTopic(topic)),
  });
}

/** Allows the key through DynamoDB only; nothing for DynamoDB's own key. */
export function grantTableKey(grantee: IGrantable, key: IKey | undefined, use: 'read' | 'write'): void {
  if (key) allow(grantee, key, 'dynamodb', use === 'read' ? READ_KEY : [...READ_KEY, ...WRITE_KEY]);
}

/** Allows the key through SQS only; nothing for SQS's own key. */
export function grantQueueKey(grantee: IGrantable, key: IKey | undefined, use: 'send' | 'receive'): void {
  // Sending creates a data key, and SQS verifies it.
  if (key) allow(grantee, key, 'sqs', use === 'send' ? ['kms:GenerateDataKey', 'kms:Decrypt'] : ['kms:Decrypt']);
}

/** Allows the key through Secrets Manager only; nothing for its own key. */
export function grantSecretKey(grantee: IGrantable, key: IKey | undefined, use: 'read' | 'write'): void {
  if (key) allow(grantee, key, 'secretsmanager', use === 'read' ? READ_KEY : [...READ_KEY, 'kms:GenerateDataKey']);
}

/** Allows the key through S3 only; nothing for S3's own key. */
export function grantBucketKey(grantee: IGrantable, key: IKey | undefined): void {
  if (key) allow(grantee, key, 's3', ['kms:Decrypt', 'kms:GenerateDataKey']);
}

function allow(grantee: IGrantable, key: IKey, service: string, actions: readonly string[]): void {
  const statement = new PolicyStatement({
    actions: [...actions],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': viaService(key, service) } },
  });
  grantee.grantPrincipal.addToPrincipalPolicy(statement);
}

function viaService(scope: Construct | IKey, service: string): string {
  return `${service}.${Stack.of(scope).region}.amazonaws.com`;
}
