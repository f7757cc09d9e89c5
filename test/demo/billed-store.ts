import { billTrip } from '../../functions/examples/billing/bill-trip.ts';
import type { CardService } from '../../functions/examples/billing/card-service.ts';
import { simulatedCards } from '../../functions/examples/billing/simulated-cards.ts';
import type { CellAddress, NewCell, PutResult } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import type { ParkedCell, TriggerDetails } from '../../shared/api/trigger-shapes.ts';
import { confirming } from '../support/store-of.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';

const MAX_ATTEMPTS = 5;

/**
 * Returns a stand-in for a deployment with the trigger `bill_rider`. Bills the cells of a store, one attempt right
 * after another. Parks cells that failed five times, and retries them on request.
 *
 * @param declineRate of the cards
 * @param changed wraps the card service, to make it misbehave
 */
export function billedStore(
  store: Datastore,
  declineRate: number,
  changed: (cards: CardService) => CardService = (cards) => cards,
): DemoStore {
  const parked = new Map<string, ParkedCell>();
  const cards = changed(simulatedCards({ get: store.get, tryPut: store.put }, declineRate));
  const bill = async (
    cell: CellAddress,
    { shard, added_id }: { readonly shard: number; readonly added_id: number },
    attempts: number,
  ): Promise<void> => {
    const key = `${cell.row_key}/${cell.ref_key}`;
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      try {
        await billTrip(cell.row_key, { trips: confirming(store), cards });
        parked.delete(key);
        return;
      } catch (error) {
        const { row_key, column_name, ref_key } = cell;
        const parkedCell = { row_key, column_name, ref_key, shard, added_id, last_error: String(error), retry: null };
        if (attempt === attempts) parked.set(key, parkedCell as ParkedCell);
      }
    }
  };
  const written = async (cells: readonly NewCell[], results: readonly PutResult[]): Promise<void> => {
    for (const [position, cell] of cells.entries()) {
      const result = results[position];
      if (cell.column_name === 'BASE' && result?.outcome === 'stored') await bill(cell, result, MAX_ATTEMPTS);
    }
  };
  return {
    ...store,
    put: async (cell) => {
      const result = await store.put(cell);
      await written([cell], [result]);
      return result;
    },
    batchPut: async (cells) => {
      const results = await store.batchPut(cells);
      await written(cells, results);
      return results;
    },
    getTrigger: async () =>
      ({
        state: 'running',
        reason: null,
        parked: parked.size,
        lag: { cells: 0, seconds: 0, unknown_shards: 0 },
      }) as TriggerDetails,
    listParkedCells: async () => ({ cells: [...parked.values()], malformed: [], next: null }),
    retryParkedCells: async ({ cells: choice }) => {
      const wanted = [...parked.values()].filter(
        (cell) =>
          choice === '*' || choice.some(({ shard, added_id }) => shard === cell.shard && added_id === cell.added_id),
      );
      for (const cell of wanted) await bill(cell, cell, 1);
      return { wanted: wanted.length, not_parked: [] };
    },
  };
}
