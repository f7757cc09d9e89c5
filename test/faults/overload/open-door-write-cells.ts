/**
 * The function `write-cells` with an open door: no admission control, no batching, by which many writes take little
 * more than one, and no other limit to a wait. A control.
 */
import { connectorOf } from '#connector';
import { readConfig } from '../../../functions/environment/config.ts';
import { deploymentOptions } from '../../../functions/environment/deployment.ts';
import { makeWriteHandler } from '../../../functions/write-cells.ts';
import { STORE_VARIABLES } from '../../../shared/environment.ts';
import type { DeploymentOptions } from '../../../shared/access/context.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { withoutAdmission } from '../../support/without-admission.ts';
import { withoutBreakers } from '../../support/without-breakers.ts';

const FOR_EVER_MS = 600_000;

function openOptions(): DeploymentOptions {
  const config = readConfig(STORE_VARIABLES);
  const connect = connectorOf(config.access).open(config, { acquireMs: FOR_EVER_MS });
  const clients = new Map<string, SqlClient>();
  return {
    ...deploymentOptions(config),
    connect(group) {
      const client = clients.get(group.name) ?? connect(group);
      clients.set(group.name, client);
      return client;
    },
    guard: withoutBreakers,
    admit: withoutAdmission,
  };
}

// A deployment for each request, over the same connections: it has no other request to batch with.
export const handler = makeWriteHandler(() => {
  const options = openOptions();
  return { ...openDeployment(options), datastore: (name) => openDeployment(options).datastore(name) };
});
