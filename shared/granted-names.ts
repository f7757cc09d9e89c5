/** Names in the grants of functions, for code and templates, without the SDK. */

/** Key of the item of opened circuits in the state table: one for all instances, see `access/open-circuits.ts`. */
export const OPENINGS_KEY = 'circuit-openings';

/** Key of the topology's item that describes how to reach groups. */
export const GROUPS_KEY = 'groups';

/** The lease of the worker that moves shards. */
export const MOVES_LEASE = 'moves';

/** The lease of the worker that continues erasures, including those of retention rules. */
export const ERASURES_LEASE = 'erasures';

/** The prefix of queues made through the API: two hyphens end it, so `trips` has no right to `trips-prod`'s. */
export function appliedQueuePrefix(environment: string): string {
  return `schemaless-${environment}--`;
}
