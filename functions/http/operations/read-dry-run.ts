import type { Query } from '../query.ts';

/** `dry_run=true`: only what would be done is asked. */
export function readDryRun(query: Query): boolean {
  return query.choice('dry_run', ['true', 'false']) === 'true';
}
