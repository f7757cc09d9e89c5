import type { StoreEnvironment } from './store-environment.ts';

/** Short names: the RDS Data API takes ARNs of 100 characters, and names from logical ids are longer. */
export function clusterName({ name }: Pick<StoreEnvironment, 'name'>, group: string): string {
  return `schemaless-${name}-${group}`;
}
