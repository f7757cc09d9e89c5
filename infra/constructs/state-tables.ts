import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';

interface StateTablesProps {
  readonly protectedFromDeletion: boolean;
  readonly encryptionKey?: IKey | undefined;
  readonly keyDays: number;
}

/**
 * The DynamoDB tables: `topology` (groups of shards), `state` (leases, offsets) and `keys` (sealed fields). They
 * survive a protected stack, with 35 days of point-in-time recovery. `keys` is in no other backup, so that forgotten
 * keys disappear.
 */
export class StateTables extends Construct {
  readonly topology: Table;
  readonly state: Table;
  readonly keys: Table;

  constructor(scope: Construct, id: string, props: StateTablesProps) {
    super(scope, id);
    const table = (name: string, recoveryPeriodInDays?: number): Table =>
      new Table(this, name, {
        partitionKey: { name: 'pk', type: AttributeType.STRING },
        billingMode: BillingMode.PAY_PER_REQUEST,
        ...(props.encryptionKey
          ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: props.encryptionKey }
          : { encryption: TableEncryption.AWS_MANAGED }),
        pointInTimeRecoverySpecification: {
          pointInTimeRecoveryEnabled: true,
          ...(recoveryPeriodInDays !== undefined && { recoveryPeriodInDays }),
        },
        deletionProtection: props.protectedFromDeletion,
        removalPolicy: props.protectedFromDeletion ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      });
    this.topology = table('topology');
    this.state = table('state');
    this.keys = table('keys', props.keyDays);
  }
}
