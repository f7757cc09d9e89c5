import { readState, updateState, type StateItem } from '../follow/state-table.ts';
import type { DynamoTable } from '../topology/dynamo-table.ts';
import { statusKey, type TriggerName } from './trigger-items.ts';
import type { TriggerState, TriggerStatus } from './trigger-store.ts';

/** A trigger that nobody paused, and of which nothing failed, has no item: it is running. */
export async function readStatus(table: DynamoTable, name: TriggerName): Promise<TriggerStatus> {
  return toStatus(await readState(table, statusKey(name)));
}

export function toStatus(item: StateItem | undefined): TriggerStatus {
  const [reason, changed, rewound] = [item?.['reason']?.S, item?.['changed_at']?.S, item?.['rewound_at']?.S];
  return {
    state: (item?.['state']?.S ?? 'running') as TriggerState,
    ...(reason !== undefined && { reason }),
    ...(changed !== undefined && { changed_at: changed }),
    troubled: (item?.['troubled']?.NS ?? []).map(Number).sort((a, b) => a - b),
    ...(rewound !== undefined && { rewound_at: rewound }),
  };
}

export async function writeState(table: DynamoTable, name: TriggerName, state: TriggerState, reason?: string): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update: `SET #state = :state, #changed_at = :now${reason === undefined ? ' REMOVE #reason' : ', #reason = :reason'}`,
    values: { ':state': { S: state }, ':now': { S: new Date().toISOString() }, ...(reason === undefined ? {} : { ':reason': { S: reason } }) },
  });
}

/**
 * Stops a trigger that runs, unless somebody has set its state since it was seen: who resumes one knows of more than
 * what was counted before.
 */
export async function stopRunning(table: DynamoTable, name: TriggerName, seen: TriggerStatus, reason: string): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update: 'SET #state = :stopped, #changed_at = :now, #reason = :reason',
    condition: `(attribute_not_exists(#state) OR #state = :running) AND ${seen.changed_at === undefined ? 'attribute_not_exists(#changed_at)' : '#changed_at = :seen'}`,
    values: {
      ':stopped': { S: 'stopped' },
      ':running': { S: 'running' },
      ':now': { S: new Date().toISOString() },
      ':reason': { S: reason },
      ...(seen.changed_at === undefined ? {} : { ':seen': { S: seen.changed_at } }),
    },
  });
}
