import type { ShardGroup } from '../../../infra/local/mysql/shard-groups.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import type { Release } from './release.ts';

/** Servers that run, as the topology describes them, and a way to them. */
export function runningGroups(groups: readonly ShardGroup[]): Pick<Release, 'groups' | 'connect'> {
  return {
    groups: groups.map(({ name, writerEndpoint, readerEndpoint, instanceEndpoints }): GroupAddress => ({
      name,
      writer: { host: writerEndpoint.host, port: writerEndpoint.port },
      reader: { host: readerEndpoint.host, port: readerEndpoint.port },
      nodes: instanceEndpoints.map(({ host, port }) => ({ host, port })),
      clusterArn: `arn:aws:rds:us-east-1:000000000000:cluster:${name}`,
      secret: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}`,
      sharedStorage: false,
    })),
    connect: (address) => {
      const group = groups.find(({ name }) => name === address.name);
      if (!group) throw new Error(`no group ${address.name}`);
      return mysqlClient(address, async () => ({ username: group.user, password: group.password }));
    },
  };
}
