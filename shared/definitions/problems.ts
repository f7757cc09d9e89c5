import { describe } from '../errors.ts';
import type { Problem } from './definitions-error.ts';
import type { YamlEntry, YamlMapping } from './yaml-file.ts';

/** What was found to be wrong with one file. */
export class Problems {
  readonly list: Problem[] = [];
  readonly file: string;

  /** @param found what the YAML parser found */
  constructor(file: string, found: readonly Problem[]) {
    this.file = file;
    this.list.push(...found);
  }

  add(line: number, message: string): void {
    this.list.push({ file: this.file, line, message });
  }

  /**
   * Says that a value is not what was wanted.
   *
   * @param path of the value in the file: `column_defs[0].fields`
   * @param entry undefined where there is none
   * @param line of what should hold it @default 1
   */
  wrong(path: string, wanted: string, entry: YamlEntry | undefined, line = 1): void {
    this.add(entry?.line ?? line, `${path}: wanted ${wanted}, got ${entry ? describe(entry.value) : 'nothing'}`);
  }

  /** Says of every key that is not known, that it is not. */
  unknownKeys(entries: YamlMapping, known: readonly string[]): void {
    for (const [key, { line }] of entries) {
      if (!known.includes(key)) this.add(line, `unknown key ${describe(key)}: wanted one of ${known.join(', ')}`);
    }
  }
}
