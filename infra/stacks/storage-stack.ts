import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { MadeTopics } from '../constructs/alarm-topics.ts';
import { SchemalessStorage } from '../constructs/storage.ts';
import type { EnvironmentProps } from '../environments.ts';

export interface StorageStackProps extends StackProps {
  readonly environment: EnvironmentProps;
  /** Told of alarms. @default nobody is, until somebody subscribes */
  readonly alarmEmail?: string | undefined;
}

/** What must outlive every deployment: the shard groups, the topology and the state. */
export class StorageStack extends Stack {
  readonly storage: SchemalessStorage;

  constructor(scope: Construct, id: string, props: StorageStackProps) {
    super(scope, id, props);
    const { environment, alarmEmail } = props;
    // On one machine nobody is called.
    const alarmTopics = environment.name === 'local' ? undefined : new MadeTopics(this, 'alarms', alarmEmail);
    this.storage = new SchemalessStorage(this, { environment, alarmTopics });
  }
}
