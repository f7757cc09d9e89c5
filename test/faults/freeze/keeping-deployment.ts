import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readConfig } from '../../../functions/config.ts';
import { secretOf } from '../../../functions/connect/way.ts';
import { secretCredentials } from '../../../functions/credentials.ts';
import { deploymentOptions } from '../../../functions/deployment.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import { keepingClient } from './keeping-client.ts';

let opened: Deployment | undefined;

/** A function's deployment over connections that it keeps, and trusts, for ever. A control. */
export function keepingDeployment(): Deployment {
  const config = readConfig();
  const secrets = new SecretsManagerClient();
  opened ??= openDeployment({ ...deploymentOptions(config), connect: (group) => keepingClient(group, secretCredentials(secrets, secretOf(group, config.databaseUser))) });
  return opened;
}
