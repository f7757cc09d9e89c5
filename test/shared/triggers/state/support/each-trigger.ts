import { beforeEach, inject } from 'vitest';
import type { DynamoTable } from '../../../../../shared/dynamo/table.ts';
import { triggerStore, type TriggerStore } from '../../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { dynamoClient, newTable } from '../../../../support/dynamo.ts';
import { until } from '../../../../support/until.ts';

export const NAME = { datastore: 'trips', trigger: 'bill_rider' };
export const client = dynamoClient(inject('servers').dynamo);

export function forEachTest(take: (table: DynamoTable, store: TriggerStore) => void): void {
  beforeEach(async () => {
    const table = await newTable(client);
    take(table, triggerStore(table, NAME));
  });
}

/** Waits until the clock shows another time than now, so that what is written then is later. */
export async function nextMoment(): Promise<void> {
  const now = new Date().toISOString();
  await until('the clock goes on', () => new Date().toISOString() > now, { pollMs: 1 });
}
