import { setTimeout as sleep } from 'node:timers/promises';
import { SchemalessError } from '../../../shared/errors.ts';
import { openStore, type DatastoreAccess, type OpenStore } from '../../support/store-access.ts';
import type { FieldValue } from '../../../shared/definitions/field-value.ts';

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

const POLL_MS = 250;
const PATIENCE_MS = 240_000;

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
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await ask(store, question);
    if (isWanted(seen)) return seen;
    if (performance.now() > deadline)
      throw new Error(`${question.index} is still ${JSON.stringify(seen)} after ${PATIENCE_MS / 1000} s`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

export function shareOf(seen: Seen): number {
  if (seen.state === 'live') return 1;
  return seen.state === 'building' && seen.total > 0 ? seen.done / seen.total : 0;
}

/** The first progress that a repair wrote after this moment (RFC 3339): what is there before is its predecessor's. */
export async function firstShareSince(
  access: DatastoreAccess,
  index: string,
  hash: string,
  moment: string,
  signal: AbortSignal,
): Promise<number> {
  await using store = await openStore(access);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { progress } = await store.context.topology.indexNow(store.name, index);
    if (progress && progress.at > moment) {
      const build = progress.builds[hash];
      return build && build.total > 0 ? build.done / build.total : build ? 0 : 1;
    }
    if (performance.now() > deadline) throw new Error(`nobody wrote the progress of ${index}`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
