import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ShardGroup } from '../mysql/shard-groups.ts';
import { clusterArn } from '../template/resources/cluster.ts';
import type { RdsDataThreadData } from './rds-data-thread.ts';
import { elsewhere, type Emulator } from './emulator.ts';

/**
 * Starts the RDS Data API over the groups' writers, in a thread of its own; it follows promotions, since the writers'
 * endpoints do. Who comes with a secret that the local Secrets Manager knows is the user whom it names; any other
 * secret stands for the owner's.
 *
 * @param secretsManager URL
 */
export async function startRdsData(groups: readonly ShardGroup[], secretsManager: string): Promise<Emulator> {
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
  const worker = new Worker(new URL('rds-data-thread.ts', import.meta.url), {
    workerData,
    execArgv: [],
    name: 'rds-data',
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });
  const [url] = (await Promise.race([
    once(worker, 'message'),
    once(worker, 'exit').then(() => {
      throw new Error('the RDS Data API did not start');
    }),
  ])) as [string];
  return {
    url,
    close: async () => void (await worker.terminate()),
  };
}
