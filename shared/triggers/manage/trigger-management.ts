import { invalidField } from '../../errors.ts';
import { parseLimit, parseShard } from '../../address.ts';
import { requireServed } from '../../access/groups.ts';
import type { DatastoreTopology } from '../../topology/topology.ts';
import { discardDead, listDead, replayDead } from './dead-messages.ts';
import { lookAtTrigger, switchOf, troubledShards } from './look-at-trigger.ts';
import {
  managedTrigger,
  managedTriggers,
  type ManagedTrigger,
  type TriggerManagementOptions,
} from './managed-trigger.ts';
import type {
  CellLocation,
  ParkedChoice,
  ParkedCount,
  TriggerDetails,
  TriggerOperations,
  TriggerSwitch,
} from '../../contract/trigger-operations.ts';
import { parkedPage, parseParkedCursor } from './parked-page.ts';
import { resumeTrigger } from './resume-trigger.ts';
import { rewindTrigger } from './rewind-trigger.ts';
import { overState } from './unavailable.ts';

export interface TriggerManagement {
  /** @throws SchemalessError `unknown_datastore` */
  triggers(datastore: string): Promise<TriggerOperations>;
}

export function triggerManagement(options: TriggerManagementOptions): TriggerManagement {
  return {
    async triggers(datastore) {
      await requireServed(options.context.topology, datastore);
      return triggerOperations(options, datastore);
    },
  };
}

function triggerOperations(options: TriggerManagementOptions, datastore: string): TriggerOperations {
  const over = <T>(name: string, task: (trigger: ManagedTrigger) => Promise<T>): Promise<T> =>
    overState(async () => task(await managedTrigger(options, datastore, name)));
  const switchWith = (name: string, change: (trigger: ManagedTrigger) => Promise<void>): Promise<TriggerSwitch> =>
    over(name, async (trigger) => {
      await change(trigger);
      return switchOf(name, await trigger.store.status());
    });

  return {
    triggers: () =>
      overState(async () => {
        // Lists a trigger that was created a moment ago.
        await options.context.topology.renew();
        const looks = await Promise.all((await managedTriggers(options, datastore)).map(lookAtTrigger));
        return looks.map(({ summary }) => summary);
      }),

    async trigger(name, { limit, after } = {}) {
      const most = parseLimit(limit);
      return over(name, async (trigger): Promise<TriggerDetails> => {
        const start = after === undefined ? 0 : parseShard(after, trigger.topology.shards, 'after') + 1;
        const { summary, shards } = await lookAtTrigger(trigger);
        const page = shards.slice(start, start + most);
        return { ...summary, shards: page, next: start + page.length < shards.length ? start + page.length - 1 : null };
      });
    },

    pauseTrigger: (name, reason) => switchWith(name, ({ store }) => store.setState('paused', reason)),
    resumeTrigger(name) {
      // Its queue may be another one by now.
      options.context.topology.refresh();
      return switchWith(name, resumeTrigger);
    },
    rewindTrigger: (name, to, { dry_run = false } = {}) =>
      over(name, async (trigger) => {
        const skips = await rewindTrigger(trigger, to, dry_run);
        return { ...switchOf(name, await trigger.store.status()), dry_run, skips };
      }),

    async parkedCells(name, { limit, after } = {}) {
      const wanted = { limit: parseLimit(limit), after: after === undefined ? undefined : parseParkedCursor(after) };
      return over(name, async ({ store }) => parkedPage(await troubledShards(store), await store.malformed(), wanted));
    },
    retryParked: (name, cells) => over(name, (trigger) => change(trigger, cells, trigger.store.wantRetry)),
    discardParked: (name, cells) => over(name, (trigger) => change(trigger, cells, trigger.store.discard)),

    async deadMessages(name, { limit } = {}) {
      const most = parseLimit(limit);
      return over(name, (trigger) => listDead(trigger, most));
    },
    replayDead: (name) => over(name, replayDead),
    discardDead: (name) => over(name, discardDead),
  };
}

/** Changes parked cells, and returns which of those named are not parked. */
async function change(
  { store, topology }: ManagedTrigger,
  choice: ParkedChoice,
  how: (cells?: readonly CellLocation[]) => Promise<number>,
): Promise<ParkedCount> {
  const cells = chosen(choice, topology);
  const parked = new Set(
    cells &&
      (await troubledShards(store)).flatMap((shard) =>
        shard.cells.filter(({ parked_at }) => parked_at !== undefined).map(({ message }) => locationName(message)),
      ),
  );
  return {
    count: await how(cells),
    not_parked: (cells ?? [])
      .filter((cell) => !parked.has(locationName(cell)))
      .map(({ shard, added_id }) => ({ shard, added_id })),
  };
}

function locationName({ shard, added_id }: CellLocation): string {
  return `${shard}/${added_id}`;
}

/** Undefined means all. */
function chosen(cells: ParkedChoice, { shards }: DatastoreTopology) {
  if (cells === '*') return undefined;
  if (cells.length === 0) throw invalidField('cells', '"*" for all, or at least one cell', 'none');
  for (const [position, { shard }] of cells.entries()) parseShard(shard, shards, `cells[${position}].shard`);
  return cells;
}
