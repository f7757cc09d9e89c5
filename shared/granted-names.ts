/** Names by which a function is granted what it makes, for code and templates, without the SDK. */

/** Key of the item of opened circuits in the state table: one for all instances, see `access/open-circuits.ts`. */
export const OPENINGS_KEY = 'circuit-openings';

/** Key of the topology's item that says how groups are reached. */
export const GROUPS_KEY = 'groups';

/** The lease of whoever moves shards. */
export const MOVES_LEASE = 'moves';

/** The lease of whoever goes on with erasures, those of what is out of its retention among them. */
export const ERASURES_LEASE = 'erasures';

/** The prefix of queues made through the API: two hyphens end it, so `trips` has no right to `trips-prod`'s. */
export function appliedQueuePrefix(environment: string): string {
  return `schemaless-${environment}--`;
}
