import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { MadeTopics } from '../constructs/alarms.ts';
import type { FunctionCode } from '../constructs/function-code.ts';
import { SchemalessStorage } from '../constructs/storage.ts';
import type { EnvironmentProps } from '../environments.ts';

interface StorageStackProps extends StackProps {
  readonly environment: EnvironmentProps;
  readonly alarmEmail?: string | undefined;
  readonly code: FunctionCode;
}

/** Groups, topology and state, which outlive deployments. */
export class StorageStack extends Stack {
  readonly storage: SchemalessStorage;

  constructor(scope: Construct, id: string, props: StorageStackProps) {
    super(scope, id, props);
    const { environment, alarmEmail, code } = props;
    const isDeployed = environment.name !== 'local';
    const alarmTopics = isDeployed ? new MadeTopics(this, 'alarms', alarmEmail) : undefined;
    this.storage = new SchemalessStorage(this, { environment, alarmTopics, ...(isDeployed && { code }) });
  }
}
