import type { ShardGroup } from '../mysql/shard-groups.ts';
import { clusterArn } from '../template/resources/cluster.ts';
import type { RdsDataThreadData } from './rds-data-thread.ts';
import { elsewhere, type Emulator } from './emulator.ts';
import { startServiceWorker } from './service-worker.ts';

/**
 * Starts the RDS Data API over the groups' writers, in a thread of its own; it follows promotions, since the writers'
 * endpoints do. Who comes with a secret that the local Secrets Manager knows is the user whom it names; any other
 * secret stands for the owner's.
 *
 * @param secretsManager URL
 * @param onRefused told of each call that a function may not make
 */
export async function startRdsData(
  groups: readonly ShardGroup[],
  secretsManager: string,
  onRefused: (why: string) => void,
): Promise<Emulator> {
  const other = elsewhere('AWS_ENDPOINT_URL_RDS_DATA');
  if (other) return other;
  const workerData: RdsDataThreadData = {
    secretsManager,
    clusters: groups.map(({ name, user, password, writerEndpoint: { host, port } }) => ({
      resourceArn: clusterArn(name),
      host,
      port,
      user,
      password,
    })),
  };
  const { url, worker, setRights } = await startServiceWorker('rds-data-thread.ts', 'rds-data', workerData, onRefused);
  return { url, setRights, close: async () => void (await worker.terminate()) };
}
