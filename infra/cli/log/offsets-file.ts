import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { badUsage } from '../command-error.ts';

export interface OffsetsFile {
  readonly offsets: ReadonlyMap<number, number>;
  save(offsets: ReadonlyMap<number, number>): void;
}

/** Opens a file of offsets, empty if it is missing. Throws a CommandError for another datastore's file. */
export function openOffsets(file: string, datastore: string): OffsetsFile {
  return {
    offsets: read(file, datastore),
    save(offsets) {
      const temporary = `${file}.${process.pid}`;
      const shards = Object.fromEntries([...offsets].sort(([one], [other]) => one - other));
      writeFileSync(temporary, `${JSON.stringify({ datastore, shards }, undefined, 1)}\n`);
      renameSync(temporary, file);
    },
  };
}

function read(file: string, datastore: string): ReadonlyMap<number, number> {
  if (!existsSync(file)) return new Map();
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw badUsage('--offsets', 'a file that this command wrote, or none', `${file}, which is no JSON`);
  }
  const { datastore: whose, shards } = Object(value) as { readonly datastore?: unknown; readonly shards?: unknown };
  if (typeof shards !== 'object' || shards === null || typeof whose !== 'string')
    throw badUsage('--offsets', 'a file that this command wrote, or none', `${file}, which has no shards`);
  if (whose !== datastore)
    throw badUsage('--offsets', `offsets of ${datastore}`, `${file}, which has those of ${whose}`);
  return new Map(
    Object.entries(shards).map(([shard, offset]) => {
      if (!/^\d{1,5}$/u.test(shard) || !Number.isSafeInteger(offset) || (offset as number) < 0)
        throw badUsage('--offsets', 'an added id for each shard', `${shard}: ${JSON.stringify(offset)} in ${file}`);
      return [Number(shard), offset as number];
    }),
  );
}
