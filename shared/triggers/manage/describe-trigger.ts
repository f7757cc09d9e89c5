import type { ManagedTrigger } from './managed-trigger.ts';
import { triggerLags } from '../state/shard-lags.ts';
import type { TriggerError, TriggerShard, TriggerSummary, TriggerSwitch } from '../../api/trigger-shapes.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import type { TriggerStatus, TroubledShard } from '../state/trigger-store.ts';

interface TriggerDescription {
  readonly summary: TriggerSummary;
  readonly shards: readonly TriggerShard[];
}

export async function describeTrigger(trigger: ManagedTrigger): Promise<TriggerDescription> {
  const { definition, deployed, store } = trigger;
  const depths = Promise.all([depthOf(trigger, deployed.queueUrl), depthOf(trigger, deployed.parkedQueueUrl)]);
  const state = store.status().then(async (status) => ({ status, troubled: await troubledShards(store, status) }));
  const [{ shards: lags, lag, sent }, [waiting, dead], { status, troubled }, malformed] = await Promise.all([
    depths.then(([known]) => triggerLags(trigger, known)),
    depths,
    state,
    store.malformed(),
  ]);
  const failures = new Map(
    troubled.map(({ shard, cells }) => [
      shard,
      { parked: cells.filter(({ parked_at }) => parked_at !== undefined).length, cells: cells.length },
    ]),
  );
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
      retry_parked_every_seconds:
        definition.retryParkedEveryMs === undefined ? null : definition.retryParkedEveryMs / 1000,
      timeout_seconds: definition.timeoutSeconds,
      lag,
      sent,
      waiting: waiting ?? null,
      dead: dead ?? null,
      parked: shards.reduce((sum, { parked }) => sum + parked, 0),
      malformed: malformed.length,
      failing: shards.reduce((sum, { failing }) => sum + failing, 0),
      last_error: lastError(troubled),
    },
  };
}

async function depthOf({ queues }: ManagedTrigger, queueUrl: string): Promise<number | undefined> {
  return queues.depth(queueUrl).catch(() => undefined);
}

function lastError(troubled: readonly TroubledShard[]): TriggerError | null {
  const [last] = troubled
    .flatMap(({ cells }) => cells)
    .toSorted((one, other) => (one.last_failed_at < other.last_failed_at ? 1 : -1));
  return last
    ? { error: last.last_error, at: last.last_failed_at, shard: last.message.shard, added_id: last.message.added_id }
    : null;
}

export async function troubledShards(store: TriggerStore, status?: TriggerStatus): Promise<readonly TroubledShard[]> {
  return store.shards(await store.troubled(status));
}

export function switchOf(
  trigger: string,
  { state, reason, changed_at, rewound_at, skipped, resend, least_generation = 0 }: TriggerStatus,
): TriggerSwitch {
  const resent = resend
    ? { why: resend.why, asked_at: resend.asked_at, done_at: resend.done_at ?? null, least_generation }
    : null;
  return {
    trigger,
    state,
    reason: reason ?? null,
    changed_at: changed_at ?? null,
    rewound_at: rewound_at ?? null,
    skipped: skipped ?? null,
    resent,
  };
}
