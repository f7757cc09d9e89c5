import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { PROJECT_ROOT } from '../../app-context.ts';

interface FixedShards {
  /** Of datastores that are there, by name. */
  readonly created: ReadonlyMap<string, number>;
  readonly definitions: readonly DatastoreDefinition[];
  /** Folder of the datastores' YAML. @default infra/datastores */
  readonly datastores: string | undefined;
}

/**
 * Throws an `Error` of one line where a datastore is to have another number of shards than it was created with. The
 * migration would refuse it, too, and cannot say where it is written.
 */
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
    // What is written there is more than a datastore gets here.
    throw new Error(
      `${isAsWritten ? `${source}:${line + 1}: shards` : '--shards'}: wanted ${before}, with which the datastore ${name} was created, got ${shards}`,
    );
  }
}

/**
 * The shard counts that the migration was told last, by datastore: they are known before anything runs. Nobody can have
 * deleted these since, as they were defined.
 *
 * @param file what the last start made: see `runCustomResources`
 */
export function lastShardCounts(file: string): ReadonlyMap<string, number> {
  const made: object = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const datastores: readonly unknown[] = Object.values(made).flatMap(
    (one) => Object(Object(one).properties)['Datastores'] ?? [],
  );
  return new Map(datastores.map((one) => [String(Object(one).name), Number(Object(one).shards)]));
}
