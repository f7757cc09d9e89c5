import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml';
import type { Problem } from './definitions-error.ts';

/** A value of a YAML file with the line it stands on; in a mapping, that of its key. */
export interface YamlEntry {
  /** A scalar as it is, an array of entries, or a map of entries: see `listOf` and `mappingOf`. */
  readonly value: unknown;
  readonly line: number;
}

export type YamlMapping = ReadonlyMap<string, YamlEntry>;

/** The top-level mapping of a YAML file; `entries` is undefined when there is none, and `problems` says why. */
export interface YamlFile {
  readonly entries: YamlMapping | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Parses the text of a definition file, which is one mapping, and keeps the line of each key and list item.
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
  const reader = new NodeReader(file, lines);
  return { entries: reader.mapping(document.contents, 1), problems: reader.problems };
}

/** The items of a list, undefined when the value is something else. */
export function listOf(entry: YamlEntry | undefined): readonly YamlEntry[] | undefined {
  return Array.isArray(entry?.value) ? entry.value : undefined;
}

/** The keys of a mapping, undefined when the value is something else. */
export function mappingOf(entry: YamlEntry | undefined): YamlMapping | undefined {
  return entry?.value instanceof Map ? entry.value : undefined;
}

class NodeReader {
  readonly problems: Problem[] = [];
  readonly #file: string;
  readonly #lines: LineCounter;

  constructor(file: string, lines: LineCounter) {
    this.#file = file;
    this.#lines = lines;
  }

  mapping(map: YAMLMap, mapLine: number): YamlMapping {
    const entries = new Map<string, YamlEntry>();
    for (const { key, value } of map.items) {
      const line = this.#lineOf(key, mapLine);
      const name: unknown = isScalar(key) ? key.value : key;
      if (typeof name === 'string') entries.set(name, { value: this.#value(value, line), line });
      else this.problems.push({ file: this.#file, line, message: `wanted a key that is a string, got ${String(name)}` });
    }
    return entries;
  }

  #value(node: unknown, line: number): unknown {
    if (isScalar(node)) return node.value;
    if (isMap(node)) return this.mapping(node, line);
    if (!isSeq(node)) return node;
    return node.items.map((item): YamlEntry => {
      const itemLine = this.#lineOf(item, line);
      return { value: this.#value(item, itemLine), line: itemLine };
    });
  }

  #lineOf(node: unknown, line: number): number {
    const range = isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined;
    return range ? this.#lines.linePos(range[0]).line : line;
  }
}
