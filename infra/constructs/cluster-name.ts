import type { StoreEnvironment } from './store-environment.ts';

/**
 * A cluster is named after its logical id otherwise, which the CDK makes so long that the RDS Data API, which takes ARNs
 * of 100 characters at most, would refuse the cluster in some regions.
 */
export function clusterName({ name }: Pick<StoreEnvironment, 'name'>, group: string): string {
  return `schemaless-${name}-${group}`;
}
