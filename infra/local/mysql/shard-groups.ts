import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type EngineKind, ensureEngine, type InstalledEngine } from '../../setup/engine.mjs';
import { lockFolder } from '../folder/folder-lock.ts';
import { passwordsOf } from './accounts.ts';
import { blankData } from './blank-data.ts';
import { GroupsFile, type WantedGroup } from './groups-file.ts';
import type { NodeStatus, ServerSize } from './node-status.ts';
import type { JudgeLogin } from './proxied-login.ts';
import { RunningGroup } from './running-group.ts';
import type { ServerNode } from './server-node.ts';

export type { Forwarder } from './forwarder.ts';
export type { NodeRole, NodeStatus } from './node-status.ts';

export interface ShardGroupsOptions {
  readonly dataDir: string;
  /** Undefined: a real MySQL on the machine, else MariaDB. */
  readonly engine?: EngineKind | undefined;
  /** Groups and readers may be added to a data folder, not removed. */
  readonly groups: readonly WantedGroup[];
  readonly restartAfterSeconds: number;
  /** See `ServerSettings`. */
  readonly shards: number;
  /** May change at each start. */
  readonly size?: ServerSize | undefined;
  readonly extraArguments?: readonly string[];
  readonly log: (line: string) => void;
}

export type ShardGroup = Pick<
  RunningGroup,
  'name' | 'resourceId' | 'user' | 'password' | 'writerEndpoint' | 'readerEndpoint' | 'instanceEndpoints' | 'nodes'
>;

export type ShardGroups = Awaited<ReturnType<typeof startShardGroups>>;

/**
 * Starts the groups; returns when they take writes and their readers follow. Shuts down servers of an earlier run
 * first. Throws an Error, with nothing left running, for a folder in use, of another engine, or with unwanted groups,
 * and for a server that does not start.
 */
export async function startShardGroups(options: ShardGroupsOptions) {
  checkGroups(options.groups);
  const folder = join(options.dataDir, 'groups');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  try {
    const engine = await ensureEngine({ desired: options.engine, log: options.log });
    const listeners = new Set<() => void>();
    const changed = (): void => listeners.forEach((listener) => listener());
    const logins = new Map<string, JudgeLogin>();
    const make = await makerOf(options, realpathSync(folder), engine, { changed, logins });
    let groups = await startAll(options.groups.map(make));
    let stopped: Promise<void> | undefined;
    const status = (): readonly NodeStatus[] => groups.flatMap((group) => group.nodes);

    function groupOf(name: string): RunningGroup {
      const group = groups.find((one) => one.name === name);
      if (group === undefined)
        throw new Error(`group: wanted one of ${groups.map((one) => one.name).join(', ')}, got ${name}`);
      return group;
    }

    function nodeOf(name: string): { readonly group: RunningGroup; readonly node: ServerNode } {
      for (const group of groups) {
        const node = group.node(name);
        if (node !== undefined) return { group, node };
      }
      const known = status().map(({ node }) => node);
      throw new Error(`node: wanted one of ${known.join(', ')}, got ${name}`);
    }

    return {
      engine: { kind: engine.kind, version: engine.version },
      /** Judges of the logins at proxies, by group. */
      logins,
      get groups(): readonly ShardGroup[] {
        return groups;
      },
      status,
      kill: async (name: string) => nodeOf(name).node.kill(),
      pause: (name: string) => nodeOf(name).node.pause(),
      resume(name: string) {
        const { group, node } = nodeOf(name);
        group.resume(node);
      },
      async restart(name: string) {
        const { group, node } = nodeOf(name);
        await group.restart(node);
      },
      /** Promotes the most advanced reader; returns when it takes writes. The killed writer returns as reader. */
      promote: async (name: string) => groupOf(name).promote(),
      /** Starts groups; returns when they are writable and replicated. If one fails, none runs; data stays. */
      async add(wanted: readonly WantedGroup[]) {
        checkGroups([...groups.map(({ name, nodes }) => ({ name, readers: nodes.length - 1 })), ...wanted]);
        const added = await startAll(wanted.map(make));
        groups = [...groups, ...added];
        changed();
      },
      positions: async () =>
        new Map(await Promise.all(groups.map(async (group) => [group.name, await group.position()] as const))),
      /**
       * Restores a group to a position of its log; returns when it takes writes. Later writes are lost. `marked`: a
       * statement that runs on the new writer before clients reach it.
       */
      restore: async (name: string, position: string, marked?: string) => groupOf(name).restore(position, marked),
      onChange: (listener: () => void) => void listeners.add(listener),
      stop: () => (stopped ??= Promise.all(groups.map((group) => group.stop())).then(() => lock.release())),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startAll(groups: readonly RunningGroup[]): Promise<readonly RunningGroup[]> {
  try {
    await Promise.all(groups.map((group) => group.start()));
    return groups;
  } catch (error) {
    await Promise.all(groups.map((group) => group.stop()));
    throw error;
  }
}

/** Returns a maker of the folder's groups. */
async function makerOf(
  options: ShardGroupsOptions,
  folder: string,
  engine: InstalledEngine,
  shared: Pick<ConstructorParameters<typeof RunningGroup>[0], 'changed' | 'logins'>,
): Promise<(group: WantedGroup) => RunningGroup> {
  const { shards, size = 'full', extraArguments = [], restartAfterSeconds, log } = options;
  const file = new GroupsFile(folder, engine, options.groups);
  const blank = await blankData(engine, log);
  const servers = { engine, blank, passwords: passwordsOf(folder), shards, size, extraArguments, ...shared };
  return (group) => new RunningGroup({ ...group, ...servers, folder, file, restartAfterSeconds, log });
}

function checkGroups(groups: readonly WantedGroup[]): void {
  if (new Set(groups.map((group) => group.name)).size < groups.length)
    throw new RangeError('groups: wanted a name of its own for each, got one twice');
}
