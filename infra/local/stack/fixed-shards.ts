import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { PROJECT_ROOT } from '../../app-context.ts';

interface FixedShards {
  readonly created: ReadonlyMap<string, number>;
  readonly definitions: readonly DatastoreDefinition[];
  readonly datastores: string | undefined;
}

/** Throws an `Error`, with file and line, if a datastore's number of shards differs from its first. */
export function checkShardCounts({
  created,
  definitions,
  datastores = join(PROJECT_ROOT, 'infra', 'datastores'),
}: FixedShards): void {
  for (const { name, shards } of definitions) {
    const before = created.get(name);
    if (before === undefined || before === shards) continue;
    const source = join(datastores, name, 'datastore.yaml');
    const lines = existsSync(source) ? readFileSync(source, 'utf8').split('\n') : [];
    const line = lines.findIndex((text) => text.startsWith('shards:'));
    const isAsWritten = Number(/^shards:\s*(\d+)/u.exec(lines[line] ?? '')?.[1]) === shards;
    // The file has more shards than the local limit.
    throw new Error(
      `${isAsWritten ? `${source}:${line + 1}: shards` : '--shards'}: wanted ${before}, with which the datastore ${name} was created, got ${shards}`,
    );
  }
}

/** Returns the shard counts of the last migration, by datastore, before anything runs. */
export function lastShardCounts(file: string): ReadonlyMap<string, number> {
  const made: object = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const datastores: readonly unknown[] = Object.values(made).flatMap(
    (one) => Object(Object(one).properties)['Datastores'] ?? [],
  );
  return new Map(datastores.map((one) => [String(Object(one).name), Number(Object(one).shards)]));
}
