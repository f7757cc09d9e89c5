import { isMap, isScalar, LineCounter, parseDocument, type YAMLMap } from 'yaml';
import type { Problem } from './definitions-error.ts';

/** A value of a YAML mapping with the line it stands on. */
export interface YamlEntry {
  readonly value: unknown;
  readonly line: number;
}

/** The top-level mapping of a YAML file; `entries` is undefined when there is none, and `problems` says why. */
export interface YamlFile {
  readonly entries: ReadonlyMap<string, YamlEntry> | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Parses the text of a definition file, which is one mapping, and keeps the line of each key.
 *
 * @param file named in the problems
 */
export function parseYamlFile(file: string, text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return {
      entries: undefined,
      problems: document.errors.map((error) => ({ file, line: lines.linePos(error.pos[0]).line, message: error.message })),
    };
  }
  if (!isMap(document.contents)) {
    return { entries: undefined, problems: [{ file, line: 1, message: 'wanted a mapping of keys to values' }] };
  }
  return readEntries(file, document.contents, lines);
}

function readEntries(file: string, map: YAMLMap, lines: LineCounter): YamlFile {
  const entries = new Map<string, YamlEntry>();
  const problems: Problem[] = [];
  for (const { key, value } of map.items) {
    const line = isScalar(key) && key.range ? lines.linePos(key.range[0]).line : 1;
    const name: unknown = isScalar(key) ? key.value : key;
    if (typeof name === 'string') entries.set(name, { value: isScalar(value) ? value.value : value, line });
    else problems.push({ file, line, message: `wanted a key that is a string, got ${String(name)}` });
  }
  return { entries, problems };
}
