import { parse } from 'node:path';
import type { Problem } from './definitions-error.ts';
import type { DefinitionSource, FolderEntry } from './definition-source.ts';

/** Beside a `datastore.yaml`. */
const PARTS = ['indexes', 'triggers'] as const;
const DATASTORE_FILE = 'datastore.yaml';
/** So much of a folder's name has to be right for another to be meant: `index`, `indices`, `Trigger`. */
const ALIKE = 3;

/** Files that lie where only the datastores' folders are to be: they would be left out without a word. */
export function misplacedDatastores(source: DefinitionSource): readonly Problem[] {
  return (source.entries('') ?? [])
    .filter(({ kind }) => kind === 'file')
    .map(({ name }) => {
      const { part, datastore } = saysOf(source, name);
      const meant =
        part === undefined ? `${datastore}/${DATASTORE_FILE}` : `${datastore}/${part}/${parse(name).name}.yaml`;
      return misplaced(name, 'a folder for each datastore', 'file', datastore === undefined ? undefined : meant);
    });
}

/** What lies in a datastore's folder and is neither its definition nor a folder of its indexes or triggers. */
export function misplacedParts(source: DefinitionSource, datastore: string): readonly Problem[] {
  return (source.entries(datastore) ?? []).flatMap((entry) => {
    const file = `${datastore}/${entry.name}`;
    const part = PARTS.find((known) => known === entry.name);
    if (part !== undefined) return entry.kind === 'folder' ? [] : [misplaced(file, 'a folder', entry.kind, undefined)];
    if (entry.name === DATASTORE_FILE)
      return entry.kind === 'file' ? [] : [misplaced(file, 'a file', entry.kind, undefined)];
    return [
      misplaced(
        file,
        `${DATASTORE_FILE} and the folders ${PARTS.join(' and ')}`,
        entry.kind,
        meantBy(source, entry, file),
      ),
    ];
  });
}

/** Whether a datastore's definition seems to be there under another name. */
export function hasMisnamedDatastore(source: DefinitionSource, datastore: string): boolean {
  return (source.entries(datastore) ?? []).some(
    (entry) => entry.name !== DATASTORE_FILE && meantBy(source, entry, `${datastore}/${entry.name}`) === DATASTORE_FILE,
  );
}

function misplaced(file: string, wanted: string, got: FolderEntry['kind'], meant: string | undefined): Problem {
  return { file, line: 0, message: `wanted ${wanted}, got a ${got}${didYouMean(meant)}` };
}

/** The end of a message; nothing where nothing is known that may have been meant. */
export function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : `: did you mean ${meant}?`;
}

/** What an entry of a datastore's folder was to be, as far as its name, and what it says, tell. */
function meantBy(source: DefinitionSource, { name, kind }: FolderEntry, path: string): string | undefined {
  if (kind === 'folder') {
    const part = PARTS.find((known) => known.slice(0, ALIKE) === name.slice(0, ALIKE).toLowerCase());
    return part === undefined ? undefined : `${part}/`;
  }
  const { part, datastore } = saysOf(source, path);
  if (part !== undefined) return `${part}/${parse(name).name}.yaml`;
  return datastore === undefined ? undefined : DATASTORE_FILE;
}

/** What a file defines, by its keys: a part of a datastore, or, where that is undefined, a datastore itself. */
function saysOf(
  source: DefinitionSource,
  path: string,
): {
  readonly part: (typeof PARTS)[number] | undefined;
  readonly datastore: string | undefined;
} {
  const text = source.text(path);
  const [, datastore] = /^datastore:\s*(\w+)/mu.exec(text) ?? [];
  return { part: /^trigger:/mu.test(text) ? 'triggers' : /^table:/mu.test(text) ? 'indexes' : undefined, datastore };
}
