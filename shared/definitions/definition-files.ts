import { parse } from 'node:path';
import type * as z from 'zod';
import { describe } from '../errors.ts';
import { DefinitionFile } from './definition-file.ts';
import type { Problem } from './definitions-error.ts';
import type { DefinitionSource, FolderEntry } from './definition-source.ts';

interface FileKind<Schema extends z.ZodType> {
  /** `index` */
  readonly noun: string;
  /** The key that says its name. */
  readonly key: string;
  readonly schema: Schema;
  check?(file: DefinitionFile<Schema>): void;
}

export class DefinitionFiles {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly #source: DefinitionSource;
  readonly #files = new Map<string, string>();

  constructor(source: DefinitionSource) {
    this.#source = source;
  }

  /** Returns the content of `<datastore>/**.yaml`; undefined if it does not match the schema. */
  read<Schema extends z.ZodType>(
    file: string,
    { noun, key, schema, check }: FileKind<Schema>,
  ): z.output<Schema> | undefined {
    const read = new DefinitionFile(file, this.#source.text(file), schema);
    const specified = new Map<string, unknown>(Object.entries(read.sound ?? {}));
    const [datastore = ''] = file.split('/');
    for (const [named, name] of Object.entries({ [key]: parse(file).name, datastore })) {
      const of = named === 'datastore' ? 'folder' : 'file';
      if ((specified.get(named) ?? name) !== name) read.wrong([named], `${describe(name)}, the name of its ${of}`);
    }
    check?.(read);
    const what = `${noun} ${String(specified.get(key))}`;
    const among = noun === 'datastore' ? what : `${what} of ${datastore}`;
    const earlier = this.#files.get(among);
    if (earlier === undefined) this.#files.set(among, file);
    else if (specified.get(key) !== undefined) read.problem([key], `${what} is defined in ${earlier} already`);
    this.problems.push(...read.problems.toSorted((one, other) => one.line - other.line));
    this.warnings.push(...read.warnings);
    return read.definition;
  }

  /** Returns the content of each `<datastore>/<part>/*.yaml`, by name. There need not be any. */
  readPart<Schema extends z.ZodType<{ readonly name: string }>>(
    datastore: string,
    part: string,
    kind: FileKind<Schema>,
  ): z.output<Schema>[] {
    const read = (this.#source.entries(`${datastore}/${part}`) ?? []).flatMap((entry) => {
      const file = `${datastore}/${part}/${entry.name}`;
      if (entry.kind === 'file' && entry.name.endsWith('.yaml')) return this.read(file, kind) ?? [];
      const message = `wanted only files named <${kind.noun}>.yaml in the folder ${part}`;
      this.problems.push({ file, line: 0, message });
      return [];
    });
    return read.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}

/** The allowed entries of a datastore's folder, with their kinds. */
const PARTS: Readonly<Record<string, FolderEntry['kind']>> = {
  'datastore.yaml': 'file',
  indexes: 'folder',
  triggers: 'folder',
};

/** Returns files next to the datastores' folders: they would be silently ignored. */
export function misplacedDatastores(source: DefinitionSource): readonly Problem[] {
  return (source.entries('') ?? [])
    .filter(({ kind }) => kind === 'file')
    .map(({ name }) => misplaced(name, 'a folder for each datastore', 'file'));
}

/** Returns entries of a datastore's folder other than its definition and the folders of indexes and triggers. */
export function misplacedParts(source: DefinitionSource, datastore: string): readonly Problem[] {
  return (source.entries(datastore) ?? [])
    .filter(({ name, kind }) => PARTS[name] !== kind)
    .map(({ name, kind }) => {
      const wanted =
        PARTS[name] === undefined ? 'datastore.yaml and the folders indexes and triggers' : `a ${PARTS[name]}`;
      return misplaced(`${datastore}/${name}`, wanted, kind);
    });
}

function misplaced(file: string, wanted: string, got: FolderEntry['kind']): Problem {
  return { file, line: 0, message: `wanted ${wanted}, got a ${got}` };
}
