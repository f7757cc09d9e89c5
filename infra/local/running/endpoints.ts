import type { NodeStatus, ShardGroups } from '../mysql/shard-groups.ts';
import { writeFileAtomically } from '../folder/state-file.ts';

/** The addresses of a running stack: `endpoints.json`. */
export interface Endpoints {
  readonly http: string;
  readonly groups: readonly GroupEndpoints[];
  readonly sqs: string;
  readonly dynamodb: string;
  readonly tables: readonly string[];
  /** `cluster.ts` makes the ARNs. */
  readonly rdsData: string;
}

/** The table whose name has this part. Throws an Error if the stack has none. */
export function tableOf({ tables }: Pick<Endpoints, 'tables'>, name: 'topology' | 'state'): string {
  const found = tables.find((candidate) => candidate.includes(`tables${name}`));
  if (found === undefined)
    throw new Error(`tables: wanted the table ${name} of a stack, got ${tables.join(', ') || 'no tables'}`);
  return found;
}

type ServiceEndpoints = Omit<Endpoints, 'groups'>;

interface GroupEndpoints {
  readonly name: string;
  /** The addresses for functions, whichever server is the writer. */
  readonly cluster: { readonly writer: Address; readonly reader: Address };
  readonly writer: NodeEndpoint;
  readonly readers: readonly NodeEndpoint[];
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A server's own address, not its forwarder's; the pid is 0 without a process. */
interface NodeEndpoint extends Address {
  readonly pid: number;
  readonly user: string;
  readonly password: string;
}

export function endpointsOf(
  { groups }: Pick<ShardGroups, 'groups'>,
  { http, ...services }: ServiceEndpoints,
): Endpoints {
  const endpoints = groups.flatMap(({ name, nodes, user, password, writerEndpoint, readerEndpoint }) => {
    const endpointOf = ({ host, port, pid }: NodeStatus): NodeEndpoint => ({ host, port, pid, user, password });
    const writer = nodes.find(({ role }) => role === 'writer');
    const readers = nodes.filter((node) => node !== writer).map(endpointOf);
    const cluster = { writer: addressOf(writerEndpoint), reader: addressOf(readerEndpoint) };
    return writer ? [{ name, cluster, writer: endpointOf(writer), readers }] : [];
  });
  return { http, groups: endpoints, ...services };
}

function addressOf({ host, port }: Address): Address {
  return { host, port };
}

/** Writes the file now and after every change of a process, role or port. */
export function keepEndpointsFile(path: string, groups: ShardGroups, services: ServiceEndpoints): void {
  let written = '';
  const write = (): void => {
    const text = `${JSON.stringify(endpointsOf(groups, services), undefined, 2)}\n`;
    if (text === written) return;
    writeFileAtomically(path, text);
    written = text;
  };
  groups.onChange(write);
  write();
}
