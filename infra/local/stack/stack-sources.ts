import { join, resolve } from 'node:path';
import type { Definitions } from '../../../shared/definitions/definitions.ts';
import { PROJECT_ROOT, readAppContext, type AppContext, type AppProps } from '../../app-context.ts';
import { checkTypes } from '../template/resources/local-resources.ts';
import { DEPLOYED_APP, synthesize, type Synthesis } from '../template/synthesize.ts';
import type { DataFolder } from './data-folder.ts';
import { checkShardCounts, rememberShardCounts } from './fixed-shards.ts';
import type { LocalStackOptions } from './local-stack-options.ts';

/** What a stack is made from: definitions, functions and the app, as they are whenever somebody looks. */
export interface StackSources {
  /** Folder of the datastores' YAML. */
  readonly datastores: string;
  /** Throws an `Error` that lists every problem of the definitions, with file and line. */
  read(): AppProps;
  /**
   * As `synthesize`.
   *
   * @param inUse bundles that functions run from @default none
   */
  synthesize(inUse?: readonly string[]): Promise<Synthesis>;
  /** To be told of the definitions that a migration was done with. */
  taken(definitions: Definitions): void;
}

export function stackSources(
  options: LocalStackOptions & { readonly shards: number },
  folder: Pick<DataFolder, 'assembly' | 'customResources' | 'shardCounts'>,
): StackSources {
  const context = appContext(options);
  return {
    datastores: options.datastores === undefined ? join(PROJECT_ROOT, 'infra/datastores') : resolve(options.datastores),
    read() {
      const app = readAppContext(context, (warning) => options.log(`warning: ${warning}`));
      checkShardCounts({
        file: folder.customResources,
        createdFile: folder.shardCounts,
        definitions: app.definitions.datastores,
        datastores: options.datastores,
      });
      return app;
    },
    async synthesize(inUse) {
      const synthesis = await synthesize({ app: options.app ?? DEPLOYED_APP, context, folder: folder.assembly }, inUse);
      checkTypes(synthesis.stacks);
      return synthesis;
    },
    taken: ({ datastores }) => rememberShardCounts(folder.shardCounts, datastores),
  };
}

function appContext(options: LocalStackOptions & { readonly shards: number }): AppContext {
  return {
    environment: 'local',
    groups: options.groups,
    readers: options.readers,
    shards: options.shards,
    access: options.access,
    ...(options.cors !== undefined && { cors: options.cors }),
    ...(options.tailers !== undefined && { tailers: options.tailers }),
    ...(options.projectFolder !== undefined && { project: resolve(options.projectFolder) }),
    ...(options.datastores !== undefined && { datastores: resolve(options.datastores) }),
    ...(options.functionsFolder !== undefined && { functions: resolve(options.functionsFolder) }),
  };
}
