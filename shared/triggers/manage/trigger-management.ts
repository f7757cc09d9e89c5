import { parseShard } from '../../address.ts';
import { LIMITS } from '../../cell.ts';
import { environmentOf } from '../../environment.ts';
import { requireServed } from '../../access/groups.ts';
import type { DatastoreTopology } from '../../topology/topology.ts';
import { discardDead, listDead, replayDead } from './dead-messages.ts';
import { describeTrigger, switchOf, troubledShards } from './describe-trigger.ts';
import {
  managedTrigger,
  managedTriggers,
  type ManagedTrigger,
  type TriggerManagementOptions,
} from './managed-trigger.ts';
import type { CellLocation, ParkedChoice, TriggerSwitch } from '../../api/trigger-shapes.ts';
import type { TriggerOperations } from '../../api/triggers.ts';
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
    listTriggers: () =>
      overState(async () => {
        // Lists a trigger that was created a moment ago.
        await options.context.topology.renew();
        const descriptions = await Promise.all((await managedTriggers(options, datastore)).map(describeTrigger));
        return {
          triggers: descriptions.map(({ summary }) => summary),
          consumer_environment: { ...options.consumerEnvironment, ...environmentOf({ datastore }) },
        };
      }),
    getTrigger: ({ trigger: name, limit = LIMITS.defaultLimit, after }) =>
      over(name, async (trigger) => {
        const start = after === undefined ? 0 : parseShard(after, trigger.topology.shards, 'after') + 1;
        const { summary, shards } = await describeTrigger(trigger);
        const page = shards.slice(start, start + limit);
        return { ...summary, shards: page, next: start + page.length < shards.length ? start + page.length - 1 : null };
      }),

    pauseTrigger: ({ trigger, reason }) => switchWith(trigger, ({ store }) => store.setState('paused', reason)),
    resumeTrigger({ trigger }) {
      // Its queue may be another one by now.
      options.context.topology.refresh();
      return switchWith(trigger, resumeTrigger);
    },
    rewindTrigger: ({ trigger: name, to, dry_run = false }) =>
      over(name, async (trigger) => {
        const skips = await rewindTrigger(trigger, to, dry_run);
        return { ...switchOf(name, await trigger.store.status()), dry_run, skips };
      }),

    async listParkedCells({ trigger, limit = LIMITS.defaultLimit, after: cursor }) {
      const after = cursor === undefined ? undefined : parseParkedCursor(cursor);
      return over(trigger, async ({ store }) =>
        parkedPage(await troubledShards(store), await store.malformed(), { limit, after }),
      );
    },
    retryParkedCells: ({ trigger: name, cells }) =>
      over(name, async (trigger) => {
        const { count: wanted, not_parked } = await change(trigger, cells, trigger.store.wantRetry);
        return { wanted, not_parked };
      }),
    discardParkedCells: ({ trigger: name, cells }) =>
      over(name, async (trigger) => {
        const { count: discarded, not_parked } = await change(trigger, cells, trigger.store.discard);
        return { discarded, not_parked };
      }),

    listDeadMessages: ({ trigger: name, limit = LIMITS.defaultLimit }) =>
      over(name, (trigger) => listDead(trigger, limit)),
    replayDeadMessages: ({ trigger }) =>
      over(trigger, async (found) => {
        const { count: replayed, left } = await replayDead(found);
        return { replayed, left };
      }),
    discardDeadMessages: ({ trigger }) =>
      over(trigger, async (found) => {
        const { count: discarded, left } = await discardDead(found);
        return { discarded, left };
      }),
  };
}

interface ParkedCount {
  /** How many there were. */
  readonly count: number;
  /** Those of the choice that are not parked. */
  readonly not_parked: readonly CellLocation[];
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
  for (const [position, { shard }] of cells.entries()) parseShard(shard, shards, `cells[${position}].shard`);
  return cells;
}
