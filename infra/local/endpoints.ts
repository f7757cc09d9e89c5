import type { NodeStatus, ShardGroups } from './mysql/shard-groups.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

/** Where everything of a running stack is: `endpoints.json`, for operators and for programs that break things. */
export interface Endpoints {
  readonly http: string;
  readonly groups: readonly GroupEndpoints[];
  readonly sqs: string;
  readonly dynamodb: string;
  /** The names of the tables there. */
  readonly tables: readonly string[];
  /** For programs that use the RDS Data API themselves: see `cluster.ts` for the ARNs. */
  readonly rdsData: string;
}

/** What stays where it is while the stack runs. */
type Places = Omit<Endpoints, 'groups'>;

export interface GroupEndpoints {
  readonly name: string;
  readonly writer: NodeEndpoint;
  readonly readers: readonly NodeEndpoint[];
}

/** A server's own address, not its forwarder's. */
export interface NodeEndpoint {
  readonly host: string;
  readonly port: number;
  /** 0 while there is no process. */
  readonly pid: number;
  readonly user: string;
  readonly password: string;
}

export function endpointsOf({ groups }: Pick<ShardGroups, 'groups'>, places: Places): Endpoints {
  return {
    http: places.http,
    groups: groups.flatMap(({ name, nodes, user, password }) => {
      const endpointOf = ({ host, port, pid }: NodeStatus): NodeEndpoint => ({ host, port, pid, user, password });
      const writer = nodes.find(({ role }) => role === 'writer');
      return writer ? [{ name, writer: endpointOf(writer), readers: nodes.filter((node) => node !== writer).map(endpointOf) }] : [];
    }),
    sqs: places.sqs,
    dynamodb: places.dynamodb,
    tables: places.tables,
    rdsData: places.rdsData,
  };
}

/** Writes the file now, and again whenever a process, role or port has changed. */
export function keepEndpointsFile(path: string, groups: ShardGroups, places: Places): void {
  let written = '';
  const write = (): void => {
    const text = `${JSON.stringify(endpointsOf(groups, places), undefined, 2)}\n`;
    if (text === written) return;
    writeFileAtomically(path, text);
    written = text;
  };
  groups.onChange(write);
  write();
}
