import { SchemalessError } from '../../../shared/errors.ts';
import { openStore, type DatastoreAccess, type OpenStore } from '../../support/store-access.ts';
import type { PhysicalIndex } from '../../../shared/index/index-table.ts';
import type { FieldValue } from '../../../shared/definitions/field-value.ts';
import { lookUntil } from '../../support/look-until.ts';

/** What a client sees of an index: its answers, or how far its build is. */
export type Seen =
  | { readonly state: 'live'; readonly entries: number }
  | { readonly state: 'building'; readonly done: number; readonly total: number }
  | { readonly state: 'unknown' };

export interface BuildQuestion {
  readonly index: string;
  readonly field: string;
  readonly value: Exclude<FieldValue, null>;
}

const PATIENCE = { pollMs: 250, patienceMs: 240_000 };

/** Asks the index, as a client does. */
export async function ask({ datastore, context }: OpenStore, { index, field, value }: BuildQuestion): Promise<Seen> {
  context.topology.refresh();
  try {
    const { entries } = await datastore.query({ index, where: [{ field, operator: 'eq', values: [value] }] });
    return { state: 'live', entries: entries.length };
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'index_building') throw error;
    const { progress } = error.details.more as {
      readonly progress: { readonly done: number; readonly total: number } | null;
    };
    return progress ? { state: 'building', ...progress } : { state: 'unknown' };
  }
}

/** Asks until what is seen is wanted. */
export async function untilSeen(
  store: OpenStore,
  question: BuildQuestion,
  isWanted: (seen: Seen) => boolean,
  signal: AbortSignal,
): Promise<Seen> {
  const seen = await lookUntil(() => ask(store, question), isWanted, { ...PATIENCE, signal });
  if (isWanted(seen)) return seen;
  throw new Error(`${question.index} is still ${JSON.stringify(seen)} after ${PATIENCE.patienceMs / 1000} s`);
}

export function shareOf(seen: Seen): number {
  if (seen.state === 'live') return 1;
  return seen.state === 'building' && seen.total > 0 ? seen.done / seen.total : 0;
}

/** The first progress that a repair wrote after this moment (RFC 3339): what is there before is its predecessor's. */
export async function firstShareSince(
  access: DatastoreAccess,
  { name: index, hash }: PhysicalIndex,
  moment: string,
  signal: AbortSignal,
): Promise<number> {
  await using store = await openStore(access);
  const look = async () => (await store.context.topology.indexNow(store.name, index)).progress;
  const isSince = (progress: Awaited<ReturnType<typeof look>>): boolean => (progress?.at ?? '') > moment;
  const progress = await lookUntil(look, isSince, { ...PATIENCE, signal });
  if (!progress || !isSince(progress)) throw new Error(`nobody wrote the progress of ${index}`);
  const build = progress.builds[hash];
  return build && build.total > 0 ? build.done / build.total : build ? 0 : 1;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
