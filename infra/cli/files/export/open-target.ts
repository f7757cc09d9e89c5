import { FilesError } from '../files-error.ts';
import { folderTarget } from './folder-target.ts';
import { readS3Address, s3Target } from './s3-target.ts';
import type { ExportTarget } from './target.ts';

/** A folder, or `s3://bucket/prefix`. Throws `bad_option`. */
export async function openTarget(to: string): Promise<ExportTarget> {
  if (!/^[a-z][a-z0-9]+:\/\//iu.test(to)) return folderTarget(to);
  const address = readS3Address(to);
  if (!address) throw new FilesError('bad_option', `to: wanted a folder, or s3://bucket/prefix, got ${to}`);
  return s3Target(address.bucket, address.prefix);
}
