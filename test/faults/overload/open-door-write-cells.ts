/**
 * The function `write-cells` with an open door: no admission control, no joining, with which many writes take little more
 * than one, and nothing else either that ends the wait of whoever has come. A control.
 */
import { connectorOf } from '#connector';
import { readConfig } from '../../../functions/environment/config.ts';
import { deploymentOptions } from '../../../functions/environment/deployment.ts';
import { makeWriteHandler } from '../../../functions/write-cells.ts';
import { STORE_VARIABLES } from '../../../shared/environment.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';

/** Longer than the load lasts. */
const FOR_EVER_MS = 600_000;

let opened: Deployment | undefined;

function open(): Deployment {
  const config = readConfig(STORE_VARIABLES);
  return openDeployment({ ...deploymentOptions(config), connect: connectorOf(config.access).open(config, { acquireMs: FOR_EVER_MS }), admission: false, joinWrites: false, breakers: false });
}

export const handler = makeWriteHandler(() => (opened ??= open()));
