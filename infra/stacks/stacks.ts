import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { AppProps } from '../app-context.ts';
import { CallerPolicies } from '../constructs/caller-policies.ts';
import type { FunctionCode } from '../constructs/function-code.ts';
import { SchemalessService } from '../constructs/service.ts';
import { SchemalessStorage } from '../constructs/storage.ts';
import type { StoreApi } from '../constructs/store-api.ts';
import { MadeTopics } from '../constructs/alarms.ts';
import type { EnvironmentProps } from '../environments.ts';

interface ServiceStackProps extends StackProps, Pick<AppProps, 'environment' | 'definitions'> {
  readonly storage: SchemalessStorage;
  readonly code: FunctionCode;
}

export class ServiceStack extends Stack {
  readonly api: StoreApi;
  readonly url: CfnOutput;
  readonly domainTarget: CfnOutput | undefined;
  readonly callers: CallerPolicies;

  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, props);
    const { environment, storage, definitions, code } = props;
    const { api } = new SchemalessService(this, { storage, definitions, code });
    this.api = api;
    const names = definitions.datastores.map(({ name }) => name);
    this.callers = new CallerPolicies(this, 'callers', environment.name, api, names);
    this.url = new CfnOutput(this, 'url', {
      value: this.api.api.apiEndpoint,
      description: 'The address of the HTTP API; requests are signed (SigV4, execute-api)',
    });
    this.domainTarget = api.domain
      ? new CfnOutput(this, 'domain-target', {
          value: api.domain.regionalDomainName,
          description: `Where the DNS of ${api.domain.name} has to point`,
        })
      : undefined;
  }
}

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
