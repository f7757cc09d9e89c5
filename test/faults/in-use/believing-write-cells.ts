/**
 * The function `write-cells` that takes each outage new to it as current, however old, and trusts every report of one.
 * It makes no health check before its circuit opens. A control.
 */
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { connectorOf } from '#connector';
import { readConfig } from '../../../functions/environment/config.ts';
import { deploymentOptions } from '../../../functions/environment/deployment.ts';
import { dynamoClient } from '../../../functions/environment/dynamo.ts';
import { makeWriteHandler } from '../../../functions/write-cells.ts';
import { STORE_VARIABLES } from '../../../shared/environment.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import type { OpenCircuits } from '../../../shared/access/open-circuits.ts';
import { OPENINGS_KEY } from '../../../shared/granted-names.ts';
import { blamingClient, type BlamingClient } from '../without/blaming-client.ts';

const POLL_EVERY_MS = 2000;

let opened: Deployment | undefined;

function open(): Deployment {
  const config = readConfig(STORE_VARIABLES);
  const connect = connectorOf(config.access).open(config);
  const clients = new Map<string, BlamingClient>();
  const options = deploymentOptions(config);
  const circuits: OpenCircuits = {
    tell: (group, role) => options.circuits?.tell(group, role),
    tellMoved: () => options.circuits?.tellMoved(),
    poll: anyOpening(config.stateTable, (group) => clients.get(group)?.blame()),
  };
  return openDeployment({
    ...options,
    circuits,
    connect(address) {
      const client = blamingClient(connect(address));
      clients.set(address.name, client);
      return client;
    },
  });
}

function anyOpening(table: string, onOpening: (group: string) => void): OpenCircuits['poll'] {
  const seen = new Map<string, string>();
  let polledAt = 0;
  return (onNews) => {
    if (Date.now() - polledAt < POLL_EVERY_MS) return;
    polledAt = Date.now();
    void dynamoClient()
      .send(new GetItemCommand({ TableName: table, Key: { pk: { S: OPENINGS_KEY } } }))
      .then(({ Item: item = {} }) => {
        for (const [name, { N: at = '' }] of Object.entries(item)) {
          const [group = '', role] = name.split('/');
          if (seen.get(name) === at || (role !== 'writer' && role !== 'reader')) continue;
          seen.set(name, at);
          onOpening(group);
          onNews(group, role);
        }
      });
  };
}

export const handler = makeWriteHandler(() => (opened ??= open()));
