import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { workerData } from 'node:worker_threads';
import { callsOfRdsData } from '../iam/calls-of.ts';
import { guardServer, type Guard, refuseAsRest } from '../iam/guard-server.ts';
import { serveThread, type ServedCluster } from './serve-thread.ts';
import { startDataApi } from '../data-api/data-api.ts';
import { awsLogin } from '../login/aws-login.ts';

export interface RdsDataThreadData {
  readonly clusters: readonly ServedCluster[];
  readonly secretsManager: string;
}

const { secretsManager, ...given } = workerData as RdsDataThreadData;
let { clusters } = given;
const secrets = new SecretsManagerClient({ endpoint: secretsManager, ...awsLogin() });

type Credentials = Readonly<Record<'username' | 'password', string>>;

/** Secrets do not change while the local stack runs. */
const known = new Map<string, Promise<Credentials | undefined>>();

function credentialsOf(secretArn: string): Promise<Credentials | undefined> {
  const credentials =
    known.get(secretArn) ??
    secrets.send(new GetSecretValueCommand({ SecretId: secretArn })).then(
      ({ SecretString = '' }) => JSON.parse(SecretString) as Credentials,
      () => undefined,
    );
  known.set(secretArn, credentials);
  return credentials;
}

await serveThread(async (onRefused) => {
  let guard: Guard | undefined;
  const { url, stop } = await startDataApi({
    onServer(server) {
      guard = guardServer(server, { callsOf: callsOfRdsData, refuse: refuseAsRest, onRefused });
    },
    async login(resourceArn, secretArn) {
      const cluster = clusters.find((one) => one.resourceArn === resourceArn);
      if (!cluster) return undefined;
      const { host, port, user, password } = cluster;
      const told = await credentialsOf(secretArn);
      return { host, port, user: told?.username ?? user, password: told?.password ?? password };
    },
  });
  return {
    url,
    setRights: (rights) => guard?.setRights(rights),
    setClusters(now) {
      clusters = now;
    },
    close: stop,
  };
});
