import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3LockTimes, S3Place } from './s3-lock.ts';
import { type ExportTarget, whileHeld } from './target.ts';

/** `s3://bucket/prefix`; undefined for what is no such address. */
export function readS3Address(text: string): S3Place | undefined {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/?$/u.exec(text) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

export interface S3Options {
  /** Of a server that is not AWS. @default AWS, as the SDK finds it */
  readonly endpoint?: string | undefined;
  /** @default as the SDK finds it */
  readonly region?: string | undefined;
  /** Local folder for files under way; what is in it is deleted first. @default a new one */
  readonly folder?: string | undefined;
  /** Locks the prefix for one export at a time, by an object. @default false: the caller holds another lock */
  readonly isLocked?: boolean | undefined;
  readonly lockTimes?: S3LockTimes | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Opens a prefix of a bucket (empty, or with its final slash). Files are written locally, then uploaded whole. */
export async function s3Target(
  bucket: string,
  prefix: string,
  { endpoint, region, folder: own, isLocked = false, lockTimes, signal }: S3Options = {},
): Promise<ExportTarget> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    ...(region === undefined ? {} : { region }),
    // Other servers are asked by one name, and know no checksums that come behind the body.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' }),
  });
  const folder = own ?? (await mkdtemp(join(tmpdir(), 'schemaless-export-')));
  if (own !== undefined) await rm(own, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const place = { bucket, prefix };
  const target = await overS3(client, place, { folder, signal });
  return isLocked ? locked(target, client, { place, times: lockTimes }) : target;
}

async function locked(
  target: ExportTarget,
  client: S3Client,
  { place, times }: { readonly place: S3Place; readonly times: S3LockTimes | undefined },
): Promise<ExportTarget> {
  const { LOCK_TIMES, S3Lock } = await import('./s3-lock.ts');
  const { abortUploads } = await import('./s3-upload.ts');
  let lock: InstanceType<typeof S3Lock> | undefined;
  return {
    ...whileHeld(target, () => lock?.ask()),
    async lock(signal) {
      lock = new S3Lock(client, place, times);
      const release = await lock.take(signal);
      await abortUploads(client, place, (times ?? LOCK_TIMES).leftMs);
      return release;
    },
  };
}

async function overS3(
  client: S3Client,
  { bucket, prefix }: S3Place,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal | undefined },
): Promise<ExportTarget> {
  const { DeleteObjectCommand, GetObjectCommand, NoSuchKey, paginateListObjectsV2, PutObjectCommand } =
    await import('@aws-sdk/client-s3');
  const { uploadFile } = await import('./s3-upload.ts');
  const at = (path: string): { Bucket: string; Key: string } => ({ Bucket: bucket, Key: `${prefix}${path}` });
  const open = async (path: string): Promise<Readable> => {
    const { Body } = await client.send(new GetObjectCommand(at(path)));
    return Body as Readable;
  };
  return {
    name: `s3://${bucket}/${prefix}`.replace(/\/$/u, ''),
    async folders() {
      const names: string[] = [];
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix, Delimiter: '/' });
      for await (const { CommonPrefixes = [] } of pages)
        names.push(...CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(prefix.length).replace(/\/$/u, '')));
      return names;
    },
    async readText(path) {
      try {
        return (await (await open(path)).toArray()).join('');
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    async writeText(path, text) {
      await client.send(new PutObjectCommand({ ...at(path), Body: text, ContentType: 'application/json' }));
    },
    scratch: async (path) => join(folder, path.replaceAll('/', '-')),
    async store(scratch, path) {
      await uploadFile(client, scratch, { object: at(path), signal });
      await rm(scratch);
    },
    open,
    async remove(path) {
      await client.send(new DeleteObjectCommand(at(path)));
    },
    async close() {
      client.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
