import { readFileSync } from 'node:fs';
import { basename, join, parse } from 'node:path';
import type { Problem } from './definitions-error.ts';
import { entriesOf, isFolder } from './folder-entries.ts';
import { didYouMean } from './misplaced.ts';

/** What the place of a file says that is in it. */
export interface FilePlace {
  /** Path of the file, for the problems. */
  readonly file: string;
  /** The file's name without `.yaml`, which has to be that of what it defines. */
  readonly name: string;
  /** The name of the datastore's folder. */
  readonly datastore: string;
}

/** What one file says. */
export interface ParsedFile<T> {
  /** Undefined when it has no name; good for nothing when there are problems. */
  readonly definition: T | undefined;
  /** Where it says its name. */
  readonly line: number;
  readonly problems: readonly Problem[];
  /** What can be done, and will be regretted. */
  readonly warnings: readonly Problem[];
}

export interface LoadedFiles<T> {
  /** By name; good for nothing when there are problems. */
  readonly definitions: readonly T[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** What is defined in a folder of its own beside each `datastore.yaml`. */
export interface FileKind<T> {
  /** `indexes` */
  readonly folder: string;
  /** `index` */
  readonly noun: string;
  parse(place: FilePlace, text: string): ParsedFile<T>;
}

/** Reads and checks every `<folder>/<datastore>/<kind>/*.yaml`. There need not be any. */
export function loadFiles<T extends { readonly name: string }>(folder: string, datastore: string, kind: FileKind<T>): LoadedFiles<T> {
  const definitions = new Map<string, T>();
  const files = new Map<string, string>();
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const own = join(folder, datastore, kind.folder);
  for (const { name: fileName, kind: entryKind } of isFolder(own) ? entriesOf(own) : []) {
    const file = join(datastore, kind.folder, fileName);
    if (entryKind === 'folder' || !fileName.endsWith('.yaml')) {
      const meant = entryKind === 'file' && /\.(?:ya?ml|json)$/iu.test(fileName) ? `${parse(fileName).name}.yaml` : undefined;
      problems.push({ file, line: 0, message: `wanted only files named <${kind.noun}>.yaml in the folder ${kind.folder}${didYouMean(meant)}` });
      continue;
    }
    const parsed = kind.parse({ file, name: basename(fileName, '.yaml'), datastore }, readFileSync(join(folder, file), 'utf8'));
    problems.push(...parsed.problems);
    warnings.push(...parsed.warnings);
    if (!parsed.definition) continue;
    const { name } = parsed.definition;
    const earlier = files.get(name);
    if (earlier !== undefined) problems.push({ file, line: parsed.line, message: `${kind.noun} ${name} is defined in ${earlier} already` });
    files.set(name, file);
    definitions.set(name, parsed.definition);
  }
  return { definitions: [...definitions.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems, warnings };
}
