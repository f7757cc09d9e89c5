import { join, resolve } from 'node:path';
import type { Definitions, DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { PROJECT_ROOT, readAppContext, type AppContext, type AppProps } from '../../app-context.ts';
import { checkTypes } from '../template/resources/local-resources.ts';
import { DEPLOYED_APP, synthesize, type Synthesis } from '../template/synthesize.ts';
import type { DataFolder } from '../folder/data-folder.ts';
import type { LocalStackOptions } from './local-stack-options.ts';
import { existsSync, readFileSync } from 'node:fs';

/** A stack's definitions, functions and app, read on demand. */
export interface StackSources {
  readonly datastores: string;
  /** Shard groups; may grow. */
  groups: number;
  /** Throws an `Error` that lists every problem of the definitions, with file and line. */
  read(): AppProps;
  /** See `synthesize`. */
  synthesize(inUse?: readonly string[]): Promise<Synthesis>;
  /** Throws an `Error` with file and line if a datastore's number of shards differs from the created one. */
  checkShards(definitions: Definitions, created: ReadonlyMap<string, number>): void;
}

interface StartOptions extends LocalStackOptions {
  readonly groups: number;
  readonly shards: number;
}

export function stackSources(
  options: StartOptions,
  folder: Pick<DataFolder, 'assembly' | 'customResources'>,
): StackSources {
  const context = (): AppContext => appContext({ ...options, groups: sources.groups });
  const sources: StackSources = {
    datastores: options.datastores === undefined ? join(PROJECT_ROOT, 'infra/datastores') : resolve(options.datastores),
    groups: options.groups,
    read() {
      const app = readAppContext(context(), (warning) => options.log(`warning: ${warning}`));
      sources.checkShards(app.definitions, lastShardCounts(folder.customResources));
      return app;
    },
    async synthesize(inUse) {
      const order = { app: options.app ?? DEPLOYED_APP, context: context(), folder: folder.assembly };
      const synthesis = await synthesize(order, inUse);
      checkTypes(synthesis.stacks);
      return synthesis;
    },
    checkShards: ({ datastores: definitions }, created) =>
      checkShardCounts({ created, definitions, datastores: options.datastores }),
  };
  return sources;
}

function appContext(options: StartOptions): AppContext {
  return {
    environment: 'local',
    groups: options.groups,
    readers: options.readers,
    shards: options.shards,
    access: options.access,
    ...(options.keepCopies !== undefined && options.keepCopies > 0 && { keepCopies: options.keepCopies }),
    ...(options.cors !== undefined && { cors: options.cors }),
    ...(options.tailers !== undefined && { tailers: options.tailers }),
    ...(options.projectFolder !== undefined && { project: resolve(options.projectFolder) }),
    ...(options.datastores !== undefined && { datastores: resolve(options.datastores) }),
    ...(options.functionsFolder !== undefined && { functions: resolve(options.functionsFolder) }),
  };
}

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
