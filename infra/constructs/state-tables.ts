import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';

interface StateTablesProps {
  readonly protectedFromDeletion: boolean;
  /** @default a key of DynamoDB's own */
  readonly encryptionKey?: IKey | undefined;
  /** How many days the table of keys can be set back: 1 to 35. */
  readonly keyDays: number;
}

/**
 * The DynamoDB tables: which group holds which shard (`topology`), and who may tail what from where (`state`: leases,
 * offsets). Lost, no cell would be lost, but nobody could find one: kept when a protected stack goes, with 35 days of
 * recovery to any second. Without the third, `keys`, nobody could read a sealed field: kept likewise. It is in no other
 * backup, since a key that was forgotten is to be gone once it cannot be set back any more.
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
