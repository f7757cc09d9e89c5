import { DataApiException } from './exceptions.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** How to reach a cluster's MySQL server. */
export interface Login {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/**
 * A cluster by its ARN. `secretArn` says which secret it takes: any where it is left out, the one of this ARN, or
 * whatever a function gives credentials for.
 */
export type DataApiCluster = { readonly resourceArn: string; readonly host: string; readonly port: number } & (
  | { readonly user: string; readonly password: string; readonly secretArn?: string }
  | { readonly secretArn: (secretArn: string) => Promise<Credentials> }
);

/** Undefined: no such cluster. May throw a `DataApiException`; any other error means that the secret cannot be had. */
export type ResolveLogin = (resourceArn: string, secretArn: string) => Login | undefined | Promise<Login | undefined>;

/** Throws a `DataApiException` when there is no such cluster, or the secret is not its. */
export async function findLogin(
  clusters: readonly DataApiCluster[] | ResolveLogin,
  resourceArn: string,
  secretArn: string,
): Promise<Login> {
  let login: Login | undefined;
  try {
    login =
      typeof clusters === 'function'
        ? await clusters(resourceArn, secretArn)
        : await loginOf(clusters, resourceArn, secretArn);
  } catch (error) {
    if (error instanceof DataApiException) throw error;
    throw new DataApiException(
      'SecretsErrorException',
      `Error fetching secret ${secretArn} : ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  if (!login)
    throw new DataApiException(
      'HttpEndpointNotEnabledException',
      `HttpEndpoint is not enabled for resource ${resourceArn}`,
    );
  return login;
}

async function loginOf(
  clusters: readonly DataApiCluster[],
  resourceArn: string,
  secretArn: string,
): Promise<Login | undefined> {
  const cluster = clusters.find((one) => one.resourceArn === resourceArn);
  if (!cluster) return undefined;
  const { host, port } = cluster;
  if (typeof cluster.secretArn === 'function') {
    const { username, password } = await cluster.secretArn(secretArn);
    return { host, port, user: username, password };
  }
  if (!('user' in cluster)) return undefined;
  if (cluster.secretArn !== undefined && cluster.secretArn !== secretArn)
    throw new Error("Secrets Manager can't find the specified secret.");
  return { host, port, user: cluster.user, password: cluster.password };
}
