import { resolve } from 'node:path';
import type { Definitions } from '../../../shared/definitions/definitions.ts';
import type { EnvironmentProps } from '../../environments.ts';
import { requestedEngine } from '../../setup/engine.mjs';
import type { DataFolder } from '../folder/data-folder.ts';
import type { LocalStackOptions } from './local-stack-options.ts';
import type { WantedGroup } from '../mysql/groups-file.ts';
import { startShardGroups, type ShardGroups } from '../mysql/shard-groups.ts';
import { wantedGroups } from '../template/resources/cluster.ts';
import { addressesOf, type LoadedStack } from '../template/template.ts';

interface StartGroupsOptions {
  readonly options: LocalStackOptions;
  readonly environment: EnvironmentProps;
  readonly definitions: Definitions;
  readonly folder: DataFolder;
  /** The template decides which groups there are. */
  readonly synthesis: Promise<{ readonly stacks: readonly LoadedStack[] }>;
  readonly defer: (stop: () => Promise<void>) => void;
}

/** Starts the environment's groups while the synthesis runs, and restarts with the template's if they differ. */
export async function startWantedGroups({
  options,
  environment,
  definitions,
  folder,
  synthesis,
  defer,
}: StartGroupsOptions): Promise<ShardGroups> {
  const start = async (groups: readonly WantedGroup[]): Promise<ShardGroups> =>
    startShardGroups({
      dataDir: resolve(folder.root),
      engine: options.engine ?? requestedEngine([], process.env),
      groups,
      restartAfterSeconds: options.restartAfterSeconds,
      shards: definitions.datastores.reduce((sum, { shards }) => sum + shards, 0),
      size: options.serverSize,
      extraArguments: options.serverArguments,
      log: options.log,
    });

  const expected = Array.from({ length: environment.groups }, (_, index) => ({
    name: `group-${index + 1}`,
    readers: environment.readersPerGroup,
  }));
  const started = await start(expected);
  let running: ShardGroups | undefined = started;
  defer(async () => running?.stop());

  const wanted = groupsOf((await synthesis).stacks);
  if (JSON.stringify(wanted) === JSON.stringify(expected)) return started;
  running = undefined;
  await started.stop();
  running = await start(wanted);
  return running;
}

/** Throws an `Error` if templates need other servers than those running: only a start makes them. */
export function checkGroups(stacks: readonly LoadedStack[], { groups }: Pick<ShardGroups, 'groups'>): void {
  const shown = (some: readonly WantedGroup[]): string =>
    some.map(({ name, readers }) => `${name} with ${readers} readers`).join(', ');
  const wanted = shown(groupsOf(stacks));
  const running = shown(groups.map(({ name, nodes }) => ({ name, readers: nodes.length - 1 })));
  if (wanted !== running)
    throw new Error(`the servers: wanted ${wanted}, got ${running}: stop the stack and start it again`);
}

/** Starts added groups' servers. Throws an Error if the templates have another number than wanted. */
export async function startAddedGroups(
  stacks: readonly LoadedStack[],
  groups: Pick<ShardGroups, 'groups' | 'add'>,
  wanted: number,
): Promise<void> {
  const all = groupsOf(stacks);
  if (all.length !== wanted) throw new Error(`groups: wanted ${wanted} in the app's templates, got ${all.length}`);
  const running = new Set(groups.groups.map(({ name }) => name));
  await groups.add(all.filter(({ name }) => !running.has(name)));
}

export function groupsOf(stacks: readonly LoadedStack[]): readonly WantedGroup[] {
  return wantedGroups(addressesOf(stacks));
}
