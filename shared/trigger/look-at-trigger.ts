import { committedOffsets } from '../follow/follower-lag.ts';
import type { ManagedTrigger } from './managed-trigger.ts';
import { shardLags, sumLags } from './shard-lags.ts';
import type { TriggerShard, TriggerSummary, TriggerSwitch } from './trigger-operations.ts';
import type { TriggerStatus, TriggerStore, TroubledShard } from './trigger-store.ts';

/** Everything that there is to see of a trigger. */
export interface TriggerLook {
  readonly summary: TriggerSummary;
  /** All of them, in order. */
  readonly shards: readonly TriggerShard[];
}

/** Reads a trigger's offsets, logs and state side by side. */
export async function lookAtTrigger({ context, stateTable, definition, topology, follower, store }: ManagedTrigger): Promise<TriggerLook> {
  const offsetsAndLogs = committedOffsets(stateTable, follower, topology.shards).then((offsets) => shardLags(context, topology, offsets, definition.start));
  const state = store.status().then(async (status) => ({ status, troubled: await troubledShards(store, status) }));
  const [lags, { status, troubled }, malformed] = await Promise.all([offsetsAndLogs, state, store.malformed()]);
  const failures = new Map(troubled.map(({ shard, cells }) => [shard, { parked: cells.filter(({ parked_at }) => parked_at !== undefined).length, cells: cells.length }]));
  const shards = lags.map((lag) => {
    const { parked, cells } = failures.get(lag.shard) ?? { parked: 0, cells: 0 };
    return { ...lag, parked, failing: cells - parked };
  });
  return {
    shards,
    summary: {
      ...switchOf(definition.name, status),
      columns: definition.columns ?? '*',
      function: definition.function ?? null,
      start: typeof definition.start === 'string' ? definition.start : definition.start.since,
      max_attempts: definition.maxAttempts,
      stop_after_parked: definition.stopAfterParked,
      retry_parked_every_seconds: definition.retryParkedEveryMs === undefined ? null : definition.retryParkedEveryMs / 1000,
      timeout_seconds: definition.timeoutSeconds,
      lag: sumLags(lags),
      parked: shards.reduce((sum, { parked }) => sum + parked, 0),
      malformed: malformed.length,
      failing: shards.reduce((sum, { failing }) => sum + failing, 0),
    },
  };
}

/** The shards that have failed cells. */
export async function troubledShards(store: TriggerStore, status?: TriggerStatus): Promise<readonly TroubledShard[]> {
  const { troubled } = status ?? (await store.status());
  return store.shards(troubled);
}

export function switchOf(trigger: string, { state, reason, changed_at, rewound_at }: TriggerStatus): TriggerSwitch {
  return { trigger, state, reason: reason ?? null, changed_at: changed_at ?? null, rewound_at: rewound_at ?? null };
}
