import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { SchemalessStorage } from '../constructs/storage.ts';
import type { EnvironmentProps } from '../environments.ts';

export interface StorageStackProps extends StackProps {
  readonly environment: EnvironmentProps;
}

/** What must outlive every deployment: the shard groups, the topology and the state. */
export class StorageStack extends Stack {
  readonly storage: SchemalessStorage;

  constructor(scope: Construct, id: string, props: StorageStackProps) {
    super(scope, id, props);
    this.storage = new SchemalessStorage(this, { environment: props.environment });
  }
}
