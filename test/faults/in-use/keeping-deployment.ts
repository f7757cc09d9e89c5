import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readConfig } from '../../../functions/environment/config.ts';
import { secretOf } from '../../../functions/environment/connect/connector.ts';
import { secretCredentials } from '../../../functions/environment/credentials.ts';
import { deploymentOptions } from '../../../functions/environment/deployment.ts';
import { STORE_VARIABLES } from '../../../shared/environment.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import { keepingClient } from './keeping-client.ts';

let opened: Deployment | undefined;

/** A function's deployment over connections that it keeps, and trusts, for ever. A control. */
export function keepingDeployment(): Deployment {
  const config = readConfig(STORE_VARIABLES);
  const secrets = new SecretsManagerClient();
  opened ??= openDeployment({
    ...deploymentOptions(config),
    connect: (group) => keepingClient(group, secretCredentials(secrets, secretOf(group, config.databaseUser))),
  });
  return opened;
}
