import { Stack } from 'aws-cdk-lib';
import { AccountPrincipal, PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Key, ViaServicePrincipal, type IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/*
 * A key that somebody brings may be of another stack, as the platform's. The CDK's own grants for secrets would write
 * each role into its policy, so that the platform would wait for the store, which waits for the platform. Here roles say
 * what they may, and the key's policy only that this account's secrets may be encrypted with it.
 */

const READ_KEY = ['kms:Decrypt', 'kms:DescribeKey'];
const WRITE_KEY = ['kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'];

/** The key as the parts of a store know it: what may be done with it is said by who does it. */
export function keyForStore(scope: Construct, key: IKey): IKey {
  const { account } = Stack.of(scope);
  const secrets = new ViaServicePrincipal(viaService(scope, 'secretsmanager'), new AccountPrincipal(account));
  key.grantEncryptDecrypt(secrets);
  return Key.fromKeyArn(scope, 'key', key.keyArn);
}

/** May have DynamoDB, and nobody else, use the key of the tables. Does nothing where the key is DynamoDB's own. */
export function grantTableKey(grantee: IGrantable, key: IKey | undefined, use: 'read' | 'write'): void {
  if (key) allow(grantee, key, 'dynamodb', use === 'read' ? READ_KEY : [...READ_KEY, ...WRITE_KEY]);
}

/** May have SQS, and nobody else, use the key of the queues. Does nothing where the key is SQS's own. */
export function grantQueueKey(grantee: IGrantable, key: IKey | undefined, use: 'send' | 'receive'): void {
  // Who sends gets a key for the message, and SQS has it checked.
  if (key) allow(grantee, key, 'sqs', use === 'send' ? ['kms:GenerateDataKey', 'kms:Decrypt'] : ['kms:Decrypt']);
}

/** May have Secrets Manager, and nobody else, use the key of the secrets. Does nothing where the key is its own. */
export function grantSecretKey(grantee: IGrantable, key: IKey | undefined, use: 'read' | 'write'): void {
  if (key) allow(grantee, key, 'secretsmanager', use === 'read' ? READ_KEY : [...READ_KEY, 'kms:GenerateDataKey']);
}

/** May have S3, and nobody else, encrypt with a bucket's key. Does nothing where the key is S3's own. */
export function grantBucketKey(grantee: IGrantable, key: IKey | undefined): void {
  // Parts of a large file are decrypted to be put together.
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
