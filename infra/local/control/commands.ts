import { invalidField } from '../../../shared/errors.ts';
import { MAX_TAILERS } from '../../../shared/triggers/send/tailer-count.ts';
import type { Service } from '../emulators/emulator.ts';
import {
  recordRestoreTime,
  readRestoreTimes,
  whyCellsWouldGo,
  positionOf,
  restoreGroup,
  untilItGoesOn,
} from '../snapshots/restore-group.ts';
import { readSnapshot, snapshotFile, writeSnapshot, takeSnapshot } from '../snapshots/snapshot.ts';
import { dataFolder } from '../folder/data-folder.ts';
import { readNumber } from '../folder/state-file.ts';
import type { LocalStack } from '../running/running-stack.ts';
import type { Commands } from './control-server.ts';
import { statusOf, type ObservedStack } from './status.ts';

export interface RestoreResult {
  readonly seconds: number;
  /** Shards that take no appends yet. */
  readonly closed: number;
}

type CommandedStack = ObservedStack & Pick<LocalStack, 'addGroup'>;

export function commandsOf(stack: CommandedStack, data: string): Commands {
  const { groups, services } = stack;
  const folder = dataFolder(data);
  /** Returns undefined for a server. Throws for an unknown name. */
  const serviceOf = (name: string): Service | undefined => {
    if (name === 'dynamodb' || name === 'sqs') return services[name];
    const nodes = groups.status().map(({ node }) => node);
    if (!nodes.includes(name))
      throw invalidField('node', `one of ${[...nodes, ...Object.keys(services)].join(', ')}`, name);
    return undefined;
  };
  return {
    status: () => statusOf(stack, data),
    kill: (name) => serviceOf(name)?.kill() ?? groups.kill(name),
    pause: (node) => groups.pause(node),
    resume: (name) => serviceOf(name)?.resume() ?? groups.resume(name),
    promote: (group) => groups.promote(group),
    'add-group': () => stack.addGroup(),
    async snapshot(name) {
      snapshotFile(folder, name);
      const taken = await takeSnapshot(stack);
      writeSnapshot(folder, name, taken);
      return taken.taken_at;
    },
    'restore-group': async (argument) => {
      const [group = '', name = '', force] = argument.split(' ');
      const snapshot = readSnapshot(folder, name);
      positionOf(group, snapshot);
      const why = whyCellsWouldGo(group, snapshot, {
        keepMinutes: readNumber(folder.keepCopies) ?? 0,
        restoreTimes: readRestoreTimes(folder),
      });
      if (why !== undefined && force === undefined)
        throw new Error(`${group} would lose cells: ${why}. Export before, and say --force; or take everything back`);
      const begun = performance.now();
      await restoreGroup(groups, group, snapshot);
      recordRestoreTime(folder, group);
      const closed = await untilItGoesOn(groups, group);
      return { seconds: (performance.now() - begun) / 1000, closed } satisfies RestoreResult;
    },
    tailers: (count) => {
      if (!/^\d{1,5}$/u.test(count)) throw invalidField('tailers', `an integer from 0 to ${MAX_TAILERS}`, count);
      return stack.tailers.set(Number(count));
    },
  };
}
