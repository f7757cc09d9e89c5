import { SchemalessError } from '../errors.ts';
import type { StoreContext } from '../store/context.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';

/** An index as operators see it. */
export interface IndexStatus {
  readonly index: string;
  /** `building`: answers nothing yet. `live`. `changing`: the old definition answers while the new one is built. */
  readonly state: 'building' | 'live' | 'changing';
  /** Of the definition that answers, or that is being built where none does. The first is the shard field. */
  readonly fields: readonly { readonly field: string; readonly type: string; readonly column_key: string }[];
  readonly keys: readonly (readonly string[])[];
  /** Of the build under way: cells of the logs looked at, of those there are; null where none is, or nobody knows yet. */
  readonly progress: { readonly done: number; readonly total: number } | null;
  /** Cells that the repair is behind the logs; null while nobody knows. Entries are kept by the writes themselves. */
  readonly lag: number | null;
  /** The largest shard's share of all entries, 0 to 1: far above 1 / shards, the shard field spreads badly. */
  readonly largest_share: number | null;
}

/** The indexes of a datastore, by name. */
export async function indexStatuses(context: StoreContext, datastore: string): Promise<readonly IndexStatus[]> {
  const catalogues = (await context.topology.indexes(datastore)).filter(({ versions }) => versions.some(({ state }) => state !== 'retired'));
  return Promise.all(catalogues.map((catalogue) => statusOf(context, datastore, catalogue)));
}

/** One index. Throws `unknown_index`. */
export async function indexStatus(context: StoreContext, datastore: string, name: string): Promise<IndexStatus> {
  const catalogues = await context.topology.indexes(datastore);
  const catalogue = catalogues.find((one) => one.name === name && one.versions.some(({ state }) => state !== 'retired'));
  if (!catalogue) throw new SchemalessError('unknown_index', `no index ${JSON.stringify(name.slice(0, 60))} of ${datastore}`, { field: 'index', wanted: 'the name of an index', got: JSON.stringify(name.slice(0, 60)) });
  return statusOf(context, datastore, catalogue);
}

async function statusOf(context: StoreContext, datastore: string, { name, versions }: IndexCatalogue): Promise<IndexStatus> {
  const live = versions.find(({ state }) => state === 'live');
  const building = versions.findLast(({ state }) => state === 'building');
  const shown = live ?? building;
  if (!shown) throw new Error(`index ${name} has no version that is live or being built`);
  const progress = await context.topology.indexProgress(datastore, name);
  return {
    index: name,
    state: building ? (live ? 'changing' : 'building') : 'live',
    fields: shown.definition.fields.map(({ field, type, column_key }) => ({ field, type, column_key })),
    keys: shown.definition.keys,
    progress: (building && progress?.builds[building.hash]) ?? null,
    lag: progress?.lag ?? null,
    largest_share: progress?.largest_share ?? null,
  };
}

