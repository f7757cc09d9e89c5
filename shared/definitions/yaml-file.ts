import { isMap, isSeq, LineCounter, parseDocument, type Node } from 'yaml';

/** Where a value is within a file: keys of mappings, places in lists. */
export type YamlPath = readonly PropertyKey[];

/** The text of a definition file, which is one mapping. */
export interface YamlFile {
  /** As plain values; undefined where it is no mapping, or broken. */
  readonly value: object | undefined;
  /** Why there is no value. */
  readonly faults: readonly { readonly line: number; readonly message: string }[];
  /** The line of a key or a list item; of what should hold it, where it is not there. */
  lineOf(path: YamlPath): number;
}

export function parseYaml(text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (path: YamlPath): number => {
    let line = 1;
    let holder: unknown = document.contents;
    for (const step of path) {
      const pair = isMap<Node, Node>(holder) ? holder.items.find(({ key }) => String(key) === step) : undefined;
      const item = isSeq<Node>(holder) ? holder.items[Number(step)] : pair?.key;
      if (!item?.range) break;
      line = lines.linePos(item.range[0]).line;
      holder = pair?.value ?? item;
    }
    return line;
  };
  const broken = document.errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message }));
  if (broken.length > 0) return { value: undefined, faults: broken, lineOf };
  if (!isMap(document.contents))
    return { value: undefined, faults: [{ line: 1, message: 'wanted a mapping of keys to values' }], lineOf };
  try {
    return { value: document.toJS() as object, faults: [], lineOf };
  } catch (error) {
    // An alias of nothing, or of so much that it would fill the memory.
    return {
      value: undefined,
      faults: [{ line: 1, message: error instanceof Error ? error.message : String(error) }],
      lineOf,
    };
  }
}
