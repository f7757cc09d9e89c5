import type { Problem } from './definitions-error.ts';
import type { DefinitionSource, FolderEntry } from './definition-source.ts';

/** What lies in a datastore's folder, and as what. */
const PARTS: Readonly<Record<string, FolderEntry['kind']>> = {
  'datastore.yaml': 'file',
  indexes: 'folder',
  triggers: 'folder',
};

/** Files that lie where only the datastores' folders are to be: they would be left out without a word. */
export function misplacedDatastores(source: DefinitionSource): readonly Problem[] {
  return (source.entries('') ?? [])
    .filter(({ kind }) => kind === 'file')
    .map(({ name }) => misplaced(name, 'a folder for each datastore', 'file'));
}

/** What lies in a datastore's folder and is neither its definition nor a folder of its indexes or triggers. */
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
