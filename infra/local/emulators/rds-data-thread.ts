import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { parentPort, workerData } from 'node:worker_threads';
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

const { url } = await startDataApi({
  clusters: clusters.map(({ resourceArn, host, port, user, password }) => ({
    resourceArn,
    host,
    port,
    secretArn: async (secretArn) => (await credentialsOf(secretArn)) ?? { username: user, password },
  })),
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(url);
