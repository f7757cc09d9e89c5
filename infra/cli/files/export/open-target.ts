import { statSync } from 'node:fs';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { folderTarget } from './folder-target.ts';
import { readS3Address, s3Target } from '../../../../shared/files/s3-target.ts';
import type { ExportTarget } from '../../../../shared/files/target.ts';

interface TargetOptions {
  /** Whether one export at a time may write to a bucket; a folder is always locked. @default true */
  readonly isLocked?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A folder, or `s3://bucket/prefix`, of AWS or of whatever AWS_ENDPOINT_URL_S3 names. Throws `bad_option`. */
export async function openTarget(to: string, { isLocked = true, signal }: TargetOptions = {}): Promise<ExportTarget> {
  if (!/^[a-z][a-z0-9]+:\/\//iu.test(to)) {
    if (statSync(to, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new FilesError('bad_option', `to: wanted a folder, or s3://bucket/prefix, got the file ${to}`);
    if (!isLocked)
      throw new FilesError(
        'bad_option',
        `no-lock: wanted with s3://bucket/prefix alone, got ${to}, which is always locked`,
      );
    return folderTarget(to);
  }
  const address = readS3Address(to);
  if (!address) throw new FilesError('bad_option', `to: wanted a folder, or s3://bucket/prefix, got ${to}`);
  const endpoint = process.env['AWS_ENDPOINT_URL_S3'] ?? process.env['AWS_ENDPOINT_URL'];
  const region = process.env['AWS_REGION'] === undefined && endpoint !== undefined ? 'us-east-1' : undefined;
  return s3Target(address.bucket, address.prefix, { endpoint, region, isLocked, signal });
}
