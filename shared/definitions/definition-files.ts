import { readFileSync } from 'node:fs';
import { join, parse, sep } from 'node:path';
import type * as z from 'zod';
import { describe } from '../errors.ts';
import { DefinitionFile } from './definition-file.ts';
import type { Problem } from './definitions-error.ts';
import { entriesOf, isFolder } from './folder-entries.ts';
import { didYouMean } from './misplaced.ts';

/** A kind of definition, which has a file each. */
export interface FileKind<Schema extends z.ZodType> {
  /** `index` */
  readonly noun: string;
  /** The key that says its name. */
  readonly key: string;
  readonly schema: Schema;
  /** Checks what the schema cannot. */
  check?(file: DefinitionFile<Schema>): void;
}

/** Reads files below a folder of definitions, and collects what is wrong with them. */
export class DefinitionFiles {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly #folder: string;
  /** By what they define. */
  readonly #files = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns what `<datastore>/**.yaml` says; undefined where it is not what the schema says. */
  read<Schema extends z.ZodType>(
    file: string,
    { noun, key, schema, check }: FileKind<Schema>,
  ): z.output<Schema> | undefined {
    const read = new DefinitionFile(file, readFileSync(join(this.#folder, file), 'utf8'), schema);
    const said = new Map<string, unknown>(Object.entries(read.sound ?? {}));
    const [datastore = ''] = file.split(sep);
    for (const [named, name] of Object.entries({ [key]: parse(file).name, datastore })) {
      const of = named === 'datastore' ? 'folder' : 'file';
      if ((said.get(named) ?? name) !== name) read.wrong([named], `${describe(name)}, the name of its ${of}`);
    }
    check?.(read);
    const what = `${noun} ${String(said.get(key))}`;
    const among = noun === 'datastore' ? what : `${what} of ${datastore}`;
    const earlier = this.#files.get(among);
    if (earlier === undefined) this.#files.set(among, file);
    else if (said.get(key) !== undefined) read.problem([key], `${what} is defined in ${earlier} already`);
    this.problems.push(...read.problems.toSorted((one, other) => one.line - other.line));
    this.warnings.push(...read.warnings);
    return read.definition;
  }

  /** Returns what each `<datastore>/<part>/*.yaml` says, by name. There need not be any. */
  readPart<Schema extends z.ZodType<{ readonly name: string }>>(
    datastore: string,
    part: string,
    kind: FileKind<Schema>,
  ): z.output<Schema>[] {
    const folder = join(this.#folder, datastore, part);
    const read = (isFolder(folder) ? entriesOf(folder) : []).flatMap((entry) => {
      const file = join(datastore, part, entry.name);
      const { name, ext } = parse(entry.name);
      if (entry.kind === 'file' && ext === '.yaml') return this.read(file, kind) ?? [];
      const meant = entry.kind === 'file' && /^\.(?:ya?ml|json)$/iu.test(ext) ? `${name}.yaml` : undefined;
      const message = `wanted only files named <${kind.noun}>.yaml in the folder ${part}${didYouMean(meant)}`;
      this.problems.push({ file, line: 0, message });
      return [];
    });
    return read.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}
