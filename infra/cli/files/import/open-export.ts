import { join } from 'node:path';
import { isExport, MANIFEST, readManifests } from '../../../../shared/files/manifest.ts';
import { folderTarget } from '../export/folder-target.ts';
import { FilesError } from '../../../../shared/files/files-error.ts';
import { fingerprint } from './journal.ts';
import type { Input, InputOptions } from './open-input.ts';
import { shardSource } from './shard-source.ts';

/** Of each shard the files of all parts, in their order. */
export async function openExport(folder: string, { format, mapping, defaultRefKey }: InputOptions): Promise<Input> {
  if (format !== undefined || mapping !== undefined || defaultRefKey !== undefined)
    throw new FilesError('bad_option', `${folder}: wanted no format, mapping or ref key, since an export says it all`);
  if (!isExport(folder))
    throw new FilesError('bad_input', `input: wanted a file, or a folder with an export, got ${folder}`);
  const manifests = await readManifests(folderTarget(folder));
  const files = manifests.flatMap(({ part, manifest }) => {
    if (manifest.format !== 'ndjson')
      throw new FilesError(
        'bad_input',
        `${part}: wanted an export in NDJSON, got ${manifest.format}, which is for analysis and cannot be imported`,
      );
    return manifest.shards.flatMap(({ shard, file }) => (file ? [{ shard, path: join(folder, part, file.name) }] : []));
  });
  const shards = [...new Set(files.map(({ shard }) => shard))].toSorted((one, other) => one - other);
  return {
    sources: shards.map((shard) =>
      shardSource(
        shard,
        files.filter((file) => file.shard === shard).map(({ path }) => path),
      ),
    ),
    fingerprints: await Promise.all(manifests.map(({ part }) => fingerprint(join(folder, part, MANIFEST)))),
    reading: { format: 'export' },
  };
}
