import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isExport, MANIFEST, readManifests } from '../../../../shared/files/manifest.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';
import { checkRanges } from '../export/check-export.ts';
import { folderTarget } from '../export/folder-target.ts';
import { fingerprint } from './journal.ts';
import type { Input, InputOptions } from './input.ts';
import { shardSource, type ShardFile } from './shard-source.ts';

export async function openExport(
  folder: string,
  { format, mapping, defaultRefKey, times }: InputOptions,
): Promise<Input> {
  if (format !== undefined || mapping !== undefined || defaultRefKey !== undefined)
    throw new FilesError('bad_option', `${folder}: wanted no format, mapping or ref key, since an export says it all`);
  if (!isExport(folder))
    throw new FilesError('bad_input', `input: wanted a file, or a folder with an export, got ${folder}`);
  const areTimesKept = times !== 'new';
  const manifests = await readManifests(folderTarget(folder));
  const files = manifests.flatMap(({ part, manifest }) => {
    if (manifest.format !== 'ndjson')
      throw new FilesError(
        'bad_input',
        `${part}: wanted an export in NDJSON, got ${manifest.format}, which is for analysis and cannot be imported`,
      );
    return manifest.shards.flatMap(({ shard, file }) =>
      file ? [{ shard, ...file, path: join(folder, part, file.name) }] : [],
    );
  });
  const faults = [...checkRanges(manifests), ...files.flatMap(faultOf)];
  if (faults.length > 0)
    throw new FilesError('bad_input', `${folder}: wanted an export as its manifests say, but ${listed(faults)}`);
  const shards = [...new Set(files.map(({ shard }) => shard))].toSorted((one, other) => one - other);
  return {
    sources: shards.map((shard) =>
      shardSource(
        shard,
        files.filter((file) => file.shard === shard),
        areTimesKept,
      ),
    ),
    fingerprints: await Promise.all(manifests.map(({ part }) => fingerprint(join(folder, part, MANIFEST)))),
    areTimesKept,
    reading: { format: 'export', ...(areTimesKept && { times: 'kept' }) },
  };
}

/** Its SHA-256 is compared as it is read. */
function faultOf({ path, bytes }: ShardFile): readonly string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) return [`${path}: wanted a file, got a link or a folder`];
  const size = found?.size;
  return size === bytes ? [] : [`${path}: wanted ${bytes} bytes, got ${size ?? 'no file'}`];
}
