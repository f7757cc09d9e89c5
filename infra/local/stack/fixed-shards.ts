import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { PROJECT_ROOT } from '../../app-context.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';

export interface FixedShards {
  /** What the last start made: see `runCustomResources`. */
  readonly file: string;
  /** What was ever created here: see `rememberShardCounts`. */
  readonly createdFile: string;
  readonly definitions: readonly DatastoreDefinition[];
  /** Folder of the datastores' YAML. @default infra/datastores */
  readonly datastores: string | undefined;
}

/**
 * Throws an `Error` of one line where a datastore is to have another number of shards than it was created with. The
 * migration would refuse it, too, once all servers run, and cannot say where it is written.
 */
export function checkShardCounts({
  file,
  createdFile,
  definitions,
  datastores = join(PROJECT_ROOT, 'infra', 'datastores'),
}: FixedShards): void {
  const created = new Map([...readCounts(createdFile), ...createdShards(file)]);
  for (const { name, shards } of definitions) {
    const before = created.get(name);
    if (before === undefined || before === shards) continue;
    const place = join(datastores, name, 'datastore.yaml');
    const lines = existsSync(place) ? readFileSync(place, 'utf8').split('\n') : [];
    const line = lines.findIndex((text) => text.startsWith('shards:'));
    const isAsWritten = Number(/^shards:\s*(\d+)/u.exec(lines[line] ?? '')?.[1]) === shards;
    // What is written there is more than a datastore gets here.
    throw new Error(
      `${isAsWritten ? `${place}:${line + 1}: shards` : '--shards'}: wanted ${before}, with which the datastore ${name} was created, got ${shards}`,
    );
  }
}

/** The shard counts that the migration was told last, by datastore. */
function createdShards(file: string): ReadonlyMap<string, number> {
  const made: object = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const datastores: readonly unknown[] = Object.values(made).flatMap(
    (one) => Object(Object(one).properties)['Datastores'] ?? [],
  );
  return new Map(datastores.map((one) => [String(Object(one).name), Number(Object(one).shards)]));
}

/** Writes down what was created, which outlasts the definitions: a datastore whose folder is gone keeps its shards. */
export function rememberShardCounts(
  createdFile: string,
  definitions: readonly Pick<DatastoreDefinition, 'name' | 'shards'>[],
): void {
  const before = readCounts(createdFile);
  const counts = new Map([...before, ...definitions.map(({ name, shards }) => [name, shards] as const)]);
  if (counts.size > before.size) writeFileAtomically(createdFile, JSON.stringify(Object.fromEntries(counts)));
}

function readCounts(file: string): ReadonlyMap<string, number> {
  const counts: object = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return new Map(Object.entries(counts).map(([name, count]) => [name, Number(count)]));
}
