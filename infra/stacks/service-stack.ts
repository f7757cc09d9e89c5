import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { AppProps } from '../app-context.ts';
import { CallerPolicies } from '../constructs/caller-policies.ts';
import type { FunctionCode } from '../constructs/function-code.ts';
import { SchemalessService } from '../constructs/service.ts';
import type { SchemalessStorage } from '../constructs/storage.ts';
import type { StoreApi } from '../constructs/store-api.ts';

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
      description: 'Where the HTTP API is; requests are signed (SigV4, execute-api)',
    });
    this.domainTarget = api.domain
      ? new CfnOutput(this, 'domain-target', {
          value: api.domain.regionalDomainName,
          description: `Where the DNS of ${api.domain.name} has to point`,
        })
      : undefined;
  }
}
