import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { MOST_KEY_DAYS, type StoreEnvironment } from './store-environment.ts';

/**
 * The DynamoDB tables: `topology` (groups of shards), `state` (leases, offsets) and `keys` (sealed fields). They
 * survive a protected stack, with 35 days of point-in-time recovery. `keys` is in no other backup, so that forgotten
 * keys disappear.
 */
export class StateTables extends Construct {
  readonly topology: Table;
  readonly state: Table;
  readonly keys: Table;

  constructor(scope: Construct, id: string, environment: StoreEnvironment, encryptionKey: IKey | undefined) {
    super(scope, id);
    const { protectedFromDeletion, keyDays = MOST_KEY_DAYS } = environment;
    const table = (name: string, recoveryPeriodInDays?: number): Table =>
      new Table(this, name, {
        partitionKey: { name: 'pk', type: AttributeType.STRING },
        billingMode: BillingMode.PAY_PER_REQUEST,
        ...(encryptionKey
          ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }
          : { encryption: TableEncryption.AWS_MANAGED }),
        pointInTimeRecoverySpecification: {
          pointInTimeRecoveryEnabled: true,
          ...(recoveryPeriodInDays !== undefined && { recoveryPeriodInDays }),
        },
        deletionProtection: protectedFromDeletion,
        removalPolicy: protectedFromDeletion ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      });
    this.topology = table('topology');
    this.state = table('state');
    this.keys = table('keys', keyDays);
  }
}
