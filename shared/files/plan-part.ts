import { EMPTY_DIGEST } from '../body/log-digest.ts';
import type { SchemalessClient } from '../client/client.ts';
import { HAS_ZSTD, requireZstd, type Compression } from './compression.ts';
import { FilesError } from './files-error.ts';
import {
  FORMAT_VERSION,
  partName,
  PLAN,
  readLastParts,
  type Part,
  type Plan,
  type PlannedPart,
  type Range,
} from './manifest.ts';
import type { ExportTarget } from './target.ts';
import { typedColumns } from './parquet-file.ts';

export interface PartRequest {
  readonly target: ExportTarget;
  readonly format: 'ndjson' | 'parquet';
  /** Of NDJSON; Parquet is packed with snappy. @default gzip */
  readonly compression?: Compression | undefined;
  /** Exports only cells since the last part; all if there is none. @default false: throws if there is a part */
  readonly sinceLast?: boolean | undefined;
  /** Opens sealed fields. @default false: they are as stored, so that a forgotten subject is unreadable here too */
  readonly opened?: boolean | undefined;
  /** Leaves shards of an unavailable group for the next part, if others have cells. @default false: throws */
  readonly leavesUnknown?: boolean | undefined;
}

type Client = Pick<SchemalessClient, 'name' | 'heads' | 'listIndexes'>;

/** Plans the unfinished or next part; undefined if nothing is new. Throws `other_export`, `cut_log`, `zstd_missing`. */
export async function planPart(client: Client, desired: PartRequest): Promise<PlannedPart | undefined> {
  const { target } = desired;
  if (desired.compression === 'zstd') requireZstd(HAS_ZSTD ? true : undefined);
  const { last, begun } = await readLastParts(target);
  if (begun) return { part: begun.part, plan: checkSame(begun.plan, client.name, desired, begun.part) };
  if (last && !desired.sinceLast)
    throw otherExport('to', `a place without an export, or --since-last to go on after ${last.part}`, target.name);
  return planNext(client, desired, last);
}

async function planNext(
  client: Client,
  desired: PartRequest,
  last: Part | undefined,
): Promise<PlannedPart | undefined> {
  const { target, format } = desired;
  const heads = await client.heads();
  if (last) checkSame(last.manifest, client.name, desired, last.part);
  const place = `${target.name}/${last?.part}`;
  if (last && last.manifest.shard_count !== heads.length)
    throw otherExport(place, `an export of ${heads.length} shards`, `one of ${last.manifest.shard_count}`);
  const unknown = heads.filter((head) => head.error !== undefined);
  const ranges = heads.map((head) => (head.error === undefined ? rangeOf(head, last) : nothingOf(head.shard, last)));
  const isEmpty = ranges.every(({ after, to }) => after === to);
  if (unknown[0] && (isEmpty || !desired.leavesUnknown)) throw unknown[0].error;
  if (last && isEmpty) return undefined;
  const plan: Plan = {
    format_version: FORMAT_VERSION,
    datastore: client.name,
    shard_count: heads.length,
    format,
    compression: compressionOf(desired),
    typed_columns:
      format === 'parquet' ? [...typedColumns((await client.listIndexes()).indexes, last?.manifest.typed_columns)] : [],
    ...(desired.opened === true && { opened: true }),
    began_at: new Date().toISOString(),
    ranges,
    ...(unknown.length > 0 && { unknown: unknown.map(({ shard }) => shard) }),
    ...(last && { exported_until: last.manifest.exported_until }),
  };
  const part = partName(last ? Number(last.part.slice(5)) + 1 : 1);
  await target.writeText(`${part}/${PLAN}`, JSON.stringify(plan));
  return { part, plan };
}

function rangeOf({ shard, head }: { readonly shard: number; readonly head: number }, last: Part | undefined): Range {
  const nothing = nothingOf(shard, last);
  const { after } = nothing;
  if (head >= after) return { ...nothing, to: head };
  throw new FilesError(
    'cut_log',
    `shard ${shard}: wanted a log of ${after} cells or more, as in the last export, got ${head}: it was cut since, for example when a writer was lost. Wait until its cells are restored, or export everything again, to another place`,
  );
}

function nothingOf(shard: number, last: Part | undefined): Range {
  const before = last?.manifest.shards.find((one) => one.shard === shard);
  const { to: after = 0, to_created_at: after_created_at = null } = before ?? {};
  const after_digest = after === 0 ? EMPTY_DIGEST : before?.to_digest;
  return { shard, after, to: after, after_created_at, ...(after_digest !== undefined && { after_digest }) };
}

const compressionOf = ({ format, compression = 'gzip' }: PartRequest): Plan['compression'] =>
  format === 'parquet' ? 'snappy' : compression;

const ELSEWHERE = ': export to another place, or as it was begun';

type Content = Pick<Plan, 'datastore' | 'format' | 'compression' | 'opened'>;

function checkSame<Made extends Content>(made: Made, datastore: string, desired: PartRequest, part: string): Made {
  const place = `${desired.target.name}/${part}`;
  const wanted: Content = { datastore, format: desired.format, compression: compressionOf(desired) };
  // One export with both would say of neither whether who is forgotten is so in it.
  const shown = (opened = false): string => (opened ? 'opened' : 'as they are stored');
  if (shown(made.opened) !== shown(desired.opened))
    throw otherExport(place, `sealed fields ${shown(desired.opened)}`, `them ${shown(made.opened)}${ELSEWHERE}`);
  for (const what of ['datastore', 'format', 'compression'] as const)
    if (made[what] !== wanted[what])
      throw otherExport(place, `the ${what} ${wanted[what]}`, `${made[what]}${ELSEWHERE}`);
  return made;
}

function otherExport(place: string, wanted: string, got: string): FilesError {
  return new FilesError('other_export', `${place}: wanted ${wanted}, got ${got}`);
}
