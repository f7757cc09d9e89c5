import { join, resolve } from 'node:path';
import type { Definitions } from '../../../shared/definitions/definitions.ts';
import { PROJECT_ROOT, readAppContext, type AppContext, type AppProps } from '../../app-context.ts';
import { checkTypes } from '../template/resources/local-resources.ts';
import { DEPLOYED_APP, synthesize, type Synthesis } from '../template/synthesize.ts';
import type { DataFolder } from '../folder/data-folder.ts';
import { checkShardCounts, lastShardCounts } from './fixed-shards.ts';
import type { LocalStackOptions } from './local-stack-options.ts';

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
  let { groups } = options;
  const context = (): AppContext => appContext({ ...options, groups });
  const checkShards: StackSources['checkShards'] = ({ datastores: definitions }, created) =>
    checkShardCounts({ created, definitions, datastores: options.datastores });
  return {
    datastores: options.datastores === undefined ? join(PROJECT_ROOT, 'infra/datastores') : resolve(options.datastores),
    get groups() {
      return groups;
    },
    set groups(count) {
      groups = count;
    },
    read() {
      const app = readAppContext(context(), (warning) => options.log(`warning: ${warning}`));
      checkShards(app.definitions, lastShardCounts(folder.customResources));
      return app;
    },
    async synthesize(inUse) {
      const order = { app: options.app ?? DEPLOYED_APP, context: context(), folder: folder.assembly };
      const synthesis = await synthesize(order, inUse);
      checkTypes(synthesis.stacks);
      return synthesis;
    },
    checkShards,
  };
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
