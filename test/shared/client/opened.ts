import { randomUUID } from 'node:crypto';
import type { NewCell } from '../../../shared/cell.ts';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';

export function clientOf(deployment: Parameters<typeof gateway>[0], options: Partial<ClientOptions> = {}) {
  const fetch = gatewayFetch(gateway(deployment));
  return schemalessClient({ url: 'http://store.test', datastore: 'trips', fetch, ...options });
}

export function silentClient(): SchemalessClient {
  return clientOf(fakeDeployment(), { fetch: () => Promise.reject(new Error('sent')), attempts: 1 });
}

/** A client of the routes over a datastore in memory, of which some calls do something else. */
export function opened(
  changes: Partial<Datastore> | ((trips: Datastore) => Partial<Datastore>) = {},
  options: Partial<ClientOptions> = {},
): SchemalessClient {
  const { trips } = fakeDeployment();
  const deployment = fakeDeployment({ ...trips, ...(typeof changes === 'function' ? changes(trips) : changes) });
  return clientOf(deployment, options);
}

export const rows = Array.from({ length: 30 }, () => randomUUID());
export const cells = (count: number): readonly NewCell[] =>
  Array.from({ length: count }, (_, position) => ({
    row_key: rows[position % rows.length] ?? '',
    column_name: 'BASE',
    ref_key: Math.floor(position / rows.length),
    body: { place: position },
  }));
