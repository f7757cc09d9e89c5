import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { workerData } from 'node:worker_threads';
import { callsOfRdsData } from '../iam/calls-of.ts';
import { guardServer, type Guard } from '../iam/guard-server.ts';
import { refuseAsRest } from '../iam/refusals.ts';
import { serveThread, tellStack } from './serve-thread.ts';
import { startDataApi, type Credentials, type Login } from '../data-api/data-api.ts';

/** What the thread is started with. */
export interface RdsDataThreadData {
  readonly clusters: readonly (Login & { readonly resourceArn: string })[];
  /** URL. */
  readonly secretsManager: string;
}

const { clusters, secretsManager } = workerData as RdsDataThreadData;
const secrets = new SecretsManagerClient({
  endpoint: secretsManager,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});
/** What secrets say does not change while the local stack runs. */
const known = new Map<string, Promise<Credentials | undefined>>();

function credentialsOf(secretArn: string): Promise<Credentials | undefined> {
  let credentials = known.get(secretArn);
  if (!credentials) {
    credentials = secrets.send(new GetSecretValueCommand({ SecretId: secretArn })).then(
      ({ SecretString = '' }) => JSON.parse(SecretString) as Credentials,
      () => undefined,
    );
    known.set(secretArn, credentials);
  }
  return credentials;
}

let guard: Guard | undefined;
const { url, stop } = await startDataApi({
  onServer(server) {
    guard = guardServer(server, {
      callsOf: callsOfRdsData,
      refuse: refuseAsRest,
      onRefused: (refused) => tellStack({ refused }),
    });
  },
  clusters: clusters.map(({ resourceArn, host, port, user, password }) => ({
    resourceArn,
    host,
    port,
    secretArn: async (secretArn) => (await credentialsOf(secretArn)) ?? { username: user, password },
  })),
});
serveThread(url, { setRights: (rights) => guard?.setRights(rights), close: stop });
