import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { IndexDefinition } from './definitions.ts';
import type { Problem } from './definitions-error.ts';
import { parseIndex } from './index-definition.ts';

export interface LoadedIndexes {
  /** By name; good for nothing when there are problems. */
  readonly indexes: readonly IndexDefinition[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Reads and checks every `<folder>/<datastore>/indexes/*.yaml`. There need not be any. */
export function loadIndexes(folder: string, datastore: string): LoadedIndexes {
  const indexes = new Map<string, IndexDefinition>();
  const files = new Map<string, string>();
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const fileName of filesOf(join(folder, datastore, 'indexes'))) {
    const file = join(datastore, 'indexes', fileName);
    if (!fileName.endsWith('.yaml')) {
      problems.push({ file, line: 0, message: 'wanted only files named <index>.yaml in the folder indexes' });
      continue;
    }
    const parsed = parseIndex({ file, name: basename(fileName, '.yaml'), datastore }, readFileSync(join(folder, file), 'utf8'));
    problems.push(...parsed.problems);
    warnings.push(...parsed.warnings);
    if (!parsed.definition) continue;
    const { name } = parsed.definition;
    const earlier = files.get(name);
    if (earlier !== undefined) problems.push({ file, line: parsed.line, message: `index ${name} is defined in ${earlier} already` });
    files.set(name, file);
    indexes.set(name, parsed.definition);
  }
  return { indexes: [...indexes.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems, warnings };
}

/** Sorted; without what editors and file managers hide there. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .sort();
}
