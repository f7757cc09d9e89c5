import type { CdkCustomResourceIsCompleteEvent, Context } from 'aws-lambda';
import { createConnection } from 'mysql2';
import { once } from 'node:events';
import http from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { readConfig } from '../../functions/environment/config.ts';
import { isComplete } from '../../functions/migrate.ts';
import { startSecretsManager, type SecretsManager } from '../../infra/local/emulators/secrets-manager.ts';
import { leases } from '../../shared/dynamo/lease.ts';
import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import type { Endpoint } from '../../shared/sql/endpoints.ts';
import { dynamoClient, newTable } from '../support/dynamo.ts';
import { freePort } from '../support/free-port.ts';

const { dynamo, groups } = inject('servers');
const client = dynamoClient(dynamo);
const SECRET = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:owner';
let secrets: SecretsManager;

beforeAll(async () => {
  secrets = await startSecretsManager();
});
afterAll(async () => {
  await secrets.close();
  client.destroy();
});

beforeEach(async () => {
  const { environment, topologyTable, stateTable, bufferCopies, access, databaseUser, databaseAuth, connections } =
    ENVIRONMENT_VARIABLES;
  for (const [name, value] of Object.entries({
    [environment]: 'local',
    [topologyTable]: (await newTable(client)).table,
    [stateTable]: (await newTable(client)).table,
    [bufferCopies]: '0',
    [access]: 'mysql',
    [databaseUser]: 'owner',
    [databaseAuth]: 'secret',
    [connections]: '2',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: dynamo,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
  }))
    vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

/** Of a deployment with one group, which is there, and no datastore. */
function eventOf({ host, port }: Endpoint, minutesAgo = 0) {
  const [group] = groups;
  if (!group) throw new Error('wanted a group');
  secrets.setSecrets(new Map([[SECRET, JSON.stringify({ username: group.user, password: group.password })]]));
  const endpoint = { host, port: String(port) };
  return {
    RequestType: 'Create',
    Data: { started: BEGAN - minutesAgo * MINUTE },
    ResourceProperties: {
      ServiceToken: '',
      Groups: [
        {
          name: group.name,
          writer: endpoint,
          reader: endpoint,
          nodes: [endpoint],
          clusterArn: 'arn:aws:rds:us-east-1:000000000000:cluster:group-1',
          secret: SECRET,
          userSecrets: { read: SECRET, tail: SECRET, write: SECRET, repair: SECRET, move: SECRET, erase: SECRET },
          sharedStorage: 'false',
        },
      ],
      Datastores: [],
    },
  } as unknown as CdkCustomResourceIsCompleteEvent<object, { readonly started: number }>;
}

const MINUTE = 60_000;
// Clock: events say how old their deployment is, which no test waits for.
const BEGAN = Date.now();

interface Proxy {
  readonly endpoint: Endpoint;
  /** How many statements it has had. */
  asked(): number;
  close(): Promise<void>;
}

/** Starts an RDS Proxy without its database: it accepts logins, and fails each statement after too long a wait. */
async function startProxyBeforeNothing(): Promise<Proxy> {
  let asked = 0;
  const server = createServer((stream) => {
    const connection = createConnection({ stream, isServer: true });
    // The next packet begins a new exchange.
    const isOver = (): void => (connection as unknown as { _resetSequenceId(): void })._resetSequenceId();
    connection.on('error', () => undefined);
    connection.on('query', () => {
      asked += 1;
      connection.writeError({ code: 9501, message: 'Timed-out waiting to acquire database connection' });
      isOver();
    });
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.40',
      connectionId: 1,
      statusFlags: 2,
      characterSet: 45,
      capabilityFlags: 0xff_f7_ff,
      authCallback: (_login: object, letIn: (refusal: null) => void) => {
        letIn(null);
        isOver();
      },
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: { host: '127.0.0.1', port },
    asked: () => asked,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;

describe('a step of the migration', () => {
  it('waits for a group that is not there yet: the deployment polls again', async () => {
    expect(await isComplete(eventOf({ host: '127.0.0.1', port: await freePort() }), context)).toEqual({
      IsComplete: false,
    });
  });

  it('waits for a proxy that lets it in, and gets no connection to its database yet', async () => {
    const proxy = await startProxyBeforeNothing();
    try {
      expect(await isComplete(eventOf(proxy.endpoint), context)).toEqual({ IsComplete: false });
      expect(proxy.asked()).toBeGreaterThan(0);
    } finally {
      await proxy.close();
    }
  });

  it('waits at first for a login that a group refuses, since rights may be new, and then fails', async () => {
    const refused = (minutes: number) => {
      const event = eventOf(groups[0]?.writer ?? { host: '', port: 0 }, minutes);
      secrets.setSecrets(new Map([[SECRET, JSON.stringify({ username: 'nobody', password: 'wrong' })]]));
      return isComplete(event, context);
    };
    await expect(refused(6)).rejects.toThrow(/Access denied/u);
    expect(await refused(4)).toEqual({ IsComplete: false });
  });

  it('waits in the same way for rights in AWS', async () => {
    const denied = (minutes: number) => {
      vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', table.url);
      return isComplete(eventOf({ host: '127.0.0.1', port: 1 }, minutes), context);
    };
    await using table = await startRefusing();
    expect(await denied(4)).toEqual({ IsComplete: false });
    await expect(denied(6)).rejects.toThrow('not authorized');
  });

  it('fails with the reason after 50 minutes by the clock, before CloudFormation gives up without one', async () => {
    const unavailable = { host: '127.0.0.1', port: await freePort() };
    const late = (minutes: number) => isComplete(eventOf(unavailable, minutes), context);
    await expect(late(51)).rejects.toThrow('ECONNREFUSED');
    expect(await late(49)).toEqual({ IsComplete: false });
  });

  it('fails after 50 minutes of waiting for another migration', async () => {
    const { stateTable: table } = readConfig(['stateTable']);
    await leases({ client, table }, 'other', MINUTE).take('migrate');
    const short = { getRemainingTimeInMillis: () => 20_100 } as Context;
    const blocked = (minutes: number) => isComplete(eventOf({ host: '', port: 0 }, minutes), short);
    await expect(blocked(51)).rejects.toThrow('migration: wanted to end within 50 minutes, got work left');
    expect(await blocked(49)).toEqual({ IsComplete: false });
  });

  it('of an earlier deployment ends once a later one, such as its rollback, has begun', async () => {
    const unavailable = { host: '127.0.0.1', port: await freePort() };
    const of = (minutes: number) => isComplete(eventOf(unavailable, minutes), context);
    expect(await of(2)).toEqual({ IsComplete: false });
    expect(await of(1)).toEqual({ IsComplete: false });
    await expect(of(2)).rejects.toThrow('that a later deployment replaces');
    expect(await of(1)).toEqual({ IsComplete: false });
  });
});

/** Starts a DynamoDB that refuses every request. */
async function startRefusing() {
  const server = http.createServer((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: 'AccessDeniedException', message: 'not authorized to perform UpdateItem' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
