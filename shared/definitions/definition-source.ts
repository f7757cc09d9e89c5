import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

/** A source of definitions: a folder, or files that a client sent. Paths are relative to it, with `/`. */
export interface DefinitionSource {
  /** The source's name in messages. */
  readonly name: string;
  /**
   * Returns the entries of a folder, `''` its root; undefined if it does not exist. They are sorted, so that
   * definitions are always the same, without hidden files and notes for people (`*.md`).
   */
  entries(path: string): readonly FolderEntry[] | undefined;
  text(file: string): string;
}

/** A folder on the disk; links are what they lead to. */
export function folderSource(folder: string): DefinitionSource {
  const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return {
    name: folder,
    entries(path) {
      const at = join(folder, path);
      if (!isFolder(at)) return undefined;
      return told(readdirSync(at)).map((name) => ({ name, kind: isFolder(join(at, name)) ? 'folder' : 'file' }));
    },
    text: (file) => readFileSync(join(folder, file), 'utf8'),
  };
}

/** @param files their texts by path, as `trips/indexes/rider_index.yaml` */
export function filesSource(name: string, files: ReadonlyMap<string, string>): DefinitionSource {
  return {
    name,
    entries(path) {
      const inside = path === '' ? '' : `${path}/`;
      const below = [...files.keys()]
        .filter((file) => file.startsWith(inside))
        .map((file) => file.slice(inside.length));
      if (below.length === 0) return undefined;
      return told([...new Set(below.map((file) => file.split('/', 1)[0] ?? ''))]).map((entry) => ({
        name: entry,
        kind: below.includes(entry) ? 'file' : 'folder',
      }));
    },
    text: (file) => files.get(file) ?? '',
  };
}

function told(names: readonly string[]): string[] {
  return names.filter((name) => !name.startsWith('.') && !name.endsWith('.md')).sort();
}
