import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { HAS_ZSTD, requireZstd, type Compression } from '../compression.ts';
import { FilesError } from '../files-error.ts';
import {
  FORMAT_VERSION,
  listParts,
  partName,
  PLAN,
  readManifests,
  readPlan,
  type Part,
  type Plan,
  type Range,
} from './manifest.ts';
import type { ExportTarget } from './target.ts';
import { typedColumns } from './typed-columns.ts';

/** What a part is to be. */
export interface PartWish {
  readonly target: ExportTarget;
  readonly format: 'ndjson' | 'parquet';
  /** Of NDJSON; Parquet is packed with snappy. @default gzip */
  readonly compression?: Compression | undefined;
  /** What came since the last part, or everything where there is none. @default everything, where nothing is yet */
  readonly sinceLast?: boolean | undefined;
}

export interface PlannedPart {
  readonly part: string;
  readonly plan: Plan;
}

/**
 * The part that is to be written: the one that was begun, else the next one, whose plan is written down. Undefined where
 * nothing is new.
 *
 * @throws FilesError `other_export` where the target holds another export, or is not to be gone on with; `cut_log`;
 *   `zstd_missing`
 */
export async function planPart(
  client: Pick<SchemalessClient, 'name' | 'heads' | 'indexes'>,
  wish: PartWish,
): Promise<PlannedPart | undefined> {
  const { target } = wish;
  if (wish.compression === 'zstd') requireZstd(HAS_ZSTD ? true : undefined);
  const manifests = await readManifests(target);
  const begun = (await listParts(target)).find((name) => !manifests.some(({ part }) => part === name));
  const plan = begun === undefined ? undefined : await readPlan(target, begun);
  if (begun !== undefined && plan) return { part: begun, plan: checkSame(plan, client.name, wish, begun) };
  const last = manifests.at(-1);
  if (last && !wish.sinceLast)
    throw new FilesError(
      'other_export',
      `to: wanted a place without an export, or --since-last to go on after ${last.part}, got ${target.name}`,
    );
  return planNext(client, wish, last);
}

async function planNext(
  client: Pick<SchemalessClient, 'name' | 'heads' | 'indexes'>,
  wish: PartWish,
  last: Part | undefined,
): Promise<PlannedPart | undefined> {
  const { target, format } = wish;
  const heads = await client.heads();
  if (last) checkSame(last.manifest, client.name, wish, last.part);
  if (last && last.manifest.shard_count !== heads.length)
    throw new FilesError(
      'other_export',
      `${target.name}/${last.part}: wanted an export of ${heads.length} shards, got one of ${last.manifest.shard_count}`,
    );
  const ranges = heads.map((head): Range => {
    if (head.error !== undefined) throw head.error;
    return rangeOf(head, last);
  });
  if (last && ranges.every(({ after, to }) => after === to)) return undefined;
  const plan: Plan = {
    format_version: FORMAT_VERSION,
    datastore: client.name,
    shard_count: heads.length,
    format,
    compression: format === 'parquet' ? 'snappy' : (wish.compression ?? 'gzip'),
    typed_columns: format === 'parquet' ? [...typedColumns(await client.indexes())] : [],
    began_at: new Date().toISOString(),
    ranges,
  };
  const part = partName(last ? Number(last.part.slice(5)) + 1 : 1);
  await target.writeText(`${part}/${PLAN}`, JSON.stringify(plan));
  return { part, plan };
}

function rangeOf({ shard, head }: { readonly shard: number; readonly head: number }, last: Part | undefined): Range {
  const before = last?.manifest.shards.find((one) => one.shard === shard);
  const { to: after = 0, to_created_at: after_created_at = null } = before ?? {};
  if (head >= after) return { shard, after, to: head, after_created_at };
  throw new FilesError(
    'cut_log',
    `shard ${shard}: wanted a log of ${after} cells or more, as the last export had it, got ${head}: it was cut since, as when a writer was lost. Wait until it was brought back, or export the whole anew, elsewhere`,
  );
}

type Content = Pick<Plan, 'datastore' | 'format' | 'compression'>;

function checkSame<Made extends Content>(made: Made, datastore: string, wish: PartWish, part: string): Made {
  const compression = wish.format === 'parquet' ? 'snappy' : (wish.compression ?? 'gzip');
  const wanted: Content = { datastore, format: wish.format, compression };
  for (const what of ['datastore', 'format', 'compression'] as const) {
    if (made[what] === wanted[what]) continue;
    throw new FilesError(
      'other_export',
      `${wish.target.name}/${part}: wanted the ${what} ${wanted[what]}, got ${made[what]}: export to another place, or as it was begun`,
    );
  }
  return made;
}
