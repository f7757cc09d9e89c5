import type { Forwarder, NodeStatus, ShardGroups } from '../mysql/shard-groups.ts';
import { writeFileAtomically } from '../folder/state-file.ts';

interface ServiceEndpoints {
  readonly http: string;
  readonly sqs: string;
  readonly dynamodb: string;
  readonly tables: readonly string[];
  /** `cluster.ts` makes the ARNs. */
  readonly rdsData: string;
}

/** The addresses of a running stack: `endpoints.json`. */
export type Endpoints = ReturnType<typeof endpointsOf>;

/** The table whose name has this part. Throws an Error if the stack has none. */
export function tableOf({ tables }: Pick<ServiceEndpoints, 'tables'>, name: 'topology' | 'state'): string {
  const found = tables.find((candidate) => candidate.includes(`tables${name}`));
  if (found === undefined)
    throw new Error(`tables: wanted the table ${name} of a stack, got ${tables.join(', ') || 'no tables'}`);
  return found;
}

export function endpointsOf({ groups }: Pick<ShardGroups, 'groups'>, { http, ...services }: ServiceEndpoints) {
  const endpoints = groups.flatMap(({ name, nodes, user, password, writerEndpoint, readerEndpoint }) => {
    /** A server's own address, not its forwarder's; the pid is 0 without a process. */
    const endpointOf = ({ host, port, pid }: NodeStatus) => ({ host, port, pid, user, password });
    const writer = nodes.find(({ role }) => role === 'writer');
    const readers = nodes.filter((node) => node !== writer).map(endpointOf);
    /** The addresses for functions, whichever server is the writer. */
    const cluster = { writer: addressOf(writerEndpoint), reader: addressOf(readerEndpoint) };
    return writer ? [{ name, cluster, writer: endpointOf(writer), readers }] : [];
  });
  return { http, groups: endpoints, ...services };
}

function addressOf({ host, port }: Forwarder) {
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
