import type { Retention } from '../../api/erasures.ts';
import { shownRetention } from '../../sql/hidden-cells.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { ErasureWork } from '../erasure-work.ts';
import { behindSeconds } from './retention-pace.ts';
import { listRetained } from './retained-days.ts';
import { readPlaces } from './retention-place.ts';

/** Returns how long the cells of a datastore are kept, and what was erased by that. */
export async function retentionStatus(
  { topologyTable, stateTable }: Pick<ErasureWork, 'topologyTable' | 'stateTable'>,
  datastore: string,
): Promise<Retention> {
  const topology = await readDatastore(topologyTable, datastore);
  const rules = topology?.retention ?? [];
  const places = [...(await readPlaces(stateTable, datastore, topology?.shards ?? 0)).values()];
  const open = places.flatMap((place) => place.open);
  return {
    rules: rules.map(shownRetention),
    columns: await listRetained(stateTable, datastore),
    behind_seconds: rules.length === 0 ? 0 : (behindSeconds(rules, places) ?? null),
    open: open.length,
    waits_for: open.find(({ waits_for }) => waits_for !== null)?.waits_for ?? null,
  };
}
