import type { ShardGroup } from '../mysql/shard-groups.ts';
import { clusterArn } from '../arn.ts';
import type { RdsDataThreadData } from './rds-data-thread.ts';
import { elsewhere } from './emulator.ts';
import { startServiceWorker } from './service-worker.ts';
import type { ServedCluster } from './serve-thread.ts';

export type RdsData = Awaited<ReturnType<typeof startRdsData>>;

/** Starts the RDS Data API over the groups' writers, in its own thread. A known secret selects its user. */
export async function startRdsData(
  groups: readonly ShardGroup[],
  secretsManager: string,
  onRefused: (why: string) => void,
) {
  const other = elsewhere('AWS_ENDPOINT_URL_RDS_DATA');
  if (other) return { ...other, setGroups: () => undefined };
  const workerData: RdsDataThreadData = { secretsManager, clusters: groups.map(clusterOf) };
  const service = await startServiceWorker('rds-data-thread.ts', 'rds-data', workerData, onRefused);
  const { url, worker, setRights } = service;
  return {
    url,
    setRights,
    setGroups: (now: readonly ShardGroup[]): void => void service.call('setClusters', now.map(clusterOf)),
    close: async () => void (await worker.terminate()),
  };
}

function clusterOf({ name, user, password, writerEndpoint: { host, port } }: ShardGroup): ServedCluster {
  return { resourceArn: clusterArn(name), host, port, user, password };
}
