import { pauseFor } from '../../pause-for.ts';
import type { MistypedField } from '../wanted-entries.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { addMistyped, type MistypedFound } from '../../topology/index-now.ts';

export type MistypedCounts = ReturnType<typeof mistypedCounts>;

/** Interval of writes; a run that dies loses so much. */
const WRITE_MS = 2000;

/** Counts fields whose type differs from their index's, as repair and builds meet them. */
export function mistypedCounts(topologyTable: DynamoTable, datastore: string, onError: (error: unknown) => void) {
  const counted = new Map<string, MistypedFound & { readonly name: string; rows: number; row_key: string }>();

  async function write(): Promise<void> {
    const found = [...counted.values()];
    counted.clear();
    for (const [name, ofIndex] of Map.groupBy(found, (one) => one.name))
      await addMistyped(topologyTable, { datastore, name }, ofIndex);
  }

  return {
    add(found: readonly MistypedField[]): void {
      for (const { index, position, row_key } of found) {
        const { name, hash } = index;
        const key = `${name}/${hash}/${position}`;
        const known = counted.get(key);
        if (known) Object.assign(known, { rows: known.rows + 1, row_key });
        else counted.set(key, { name, hash, position, rows: 1, row_key });
      }
    },
    /** Writes the counts until the signal, and a last time then. Never fails. */
    async keep(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await pauseFor(WRITE_MS, signal);
        await write().catch(onError);
      }
    },
  };
}
