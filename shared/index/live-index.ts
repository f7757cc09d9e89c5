import { SchemalessError } from '../errors.ts';
import type { StoreContext } from '../store/context.ts';
import type { PhysicalIndex } from './index-table.ts';

/**
 * The version of an index that answers queries.
 *
 * @throws SchemalessError `unknown_index`; `index_building` while its first version is being built
 */
export async function liveIndex(context: StoreContext, datastore: string, name: string): Promise<PhysicalIndex> {
  const catalogues = await context.topology.indexes(datastore);
  const catalogue = catalogues.find((one) => one.name === name);
  const live = catalogue?.versions.find(({ state }) => state === 'live');
  if (live) return { name, hash: live.hash, definition: live.definition };
  if (catalogue?.versions.some(({ state }) => state === 'building')) {
    // It may have become live since the catalogue was cached.
    context.topology.refresh();
    const progress = await context.topology.indexProgress(datastore, name).catch(() => undefined);
    const build = Object.values(progress?.builds ?? {})[0];
    throw new SchemalessError('index_building', `${name} is being built${build ? `: ${build.done} of ${build.total} cells` : ''}`, { more: { index: name, progress: build ?? null } });
  }
  const known = catalogues.filter(({ versions }) => versions.some(({ state }) => state !== 'retired')).map((one) => one.name);
  const got = JSON.stringify(name.slice(0, 60));
  throw new SchemalessError('unknown_index', `index: wanted one of ${known.join(', ') || '(none defined)'}, got ${got}`, { field: 'index', wanted: 'the name of an index', got });
}
