import type { Server } from 'node:http';
import { Faults, type FaultOrder } from './faults.ts';
import { startHttpServer, type DataApiEvent } from './http-server.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import type { DataApiCluster, ResolveLogin } from './logins.ts';
import { openOperations } from './operations.ts';

// The package's whole surface: what is not named here may change with any version.
export { DataApiException, type ExceptionName } from './exceptions.ts';
export { FAULT_KINDS, type FaultKind, type FaultOrder, type Faults, type FaultStatus } from './faults.ts';
export type { DataApiEvent } from './http-server.ts';
export { DEFAULT_LIMITS, type Limits } from './limits.ts';
export type { Credentials, DataApiCluster, Login, ResolveLogin } from './logins.ts';

export interface DataApiOptions {
  /** @default 127.0.0.1: whoever reaches it may do everything */
  readonly host?: string;
  /** 0 = any free one. @default 0 */
  readonly port?: number;
  /** The clusters that it serves, or a function that finds one: for servers that come and go. */
  readonly clusters: readonly DataApiCluster[] | ResolveLogin;
  /** What is to differ from the real one's. @default all of them, as documented */
  readonly limits?: Partial<Limits>;
  /** What happens to calls from the start. */
  readonly faults?: readonly FaultOrder[];
  /** Of the faults' randomness. @default 1 */
  readonly seed?: number;
  /** Told of each call. */
  readonly report?: (event: DataApiEvent) => void;
  /** Given the server before it listens, for what is to stand before it. */
  readonly onServer?: (server: Server) => void;
}

export interface DataApi {
  /** For `AWS_ENDPOINT_URL_RDS_DATA`, or a client's `endpoint`. */
  readonly url: string;
  /** To be changed while it runs. */
  readonly faults: Faults;
  /** Rolls back what is under way. */
  stop(): Promise<void>;
}

/** Starts an RDS Data API over MySQL or MariaDB servers. Throws an `Error` that names the option that is wrong. */
export async function startDataApi({
  host = '127.0.0.1',
  port = 0,
  clusters,
  limits = {},
  faults: orders = [],
  seed = 1,
  report = () => undefined,
  onServer,
}: DataApiOptions): Promise<DataApi> {
  const faults = new Faults(seed);
  for (const order of orders) faults.set(order);
  const allLimits = { ...DEFAULT_LIMITS, ...limits };
  const operations = openOperations(clusters, allLimits);
  const server = await startHttpServer({
    host,
    port,
    requestBytes: allLimits.requestBytes,
    operations,
    faults,
    report,
    onServer,
  });
  return {
    url: server.url,
    faults,
    async stop() {
      await server.close();
      await operations.close();
    },
  };
}
