import type * as z from 'zod';
import { toDotPath } from 'zod/v4/core';
import { closestName } from '../closest-name.ts';
import { describe } from '../errors.ts';
import type { Problem } from './definitions-error.ts';
import { isMap, isSeq, LineCounter, parseDocument, type Node } from 'yaml';

// By itself: named by way of `z.core` it would bring the messages of all languages into each bundle.

/** A value without the parts of a wrong kind; the positions in lists stay. */
export type Sound<T> = T extends readonly (infer Item)[]
  ? readonly (Sound<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Sound<T[Key]> | undefined }
    : T;

/** A file checked against its schema, with all its problems. */
export class DefinitionFile<Schema extends z.ZodType> {
  /** The parsed definition; undefined if the schema finds a problem. */
  readonly definition: z.output<Schema> | undefined;
  /** The input of further checks; undefined if the file is no mapping. */
  readonly sound: Sound<z.input<Schema>> | undefined;
  readonly problems: Problem[] = [];
  /** Allowed settings that are likely to be regretted. */
  readonly warnings: Problem[] = [];
  readonly #file: string;
  readonly #yaml: YamlFile;

  /** @param file its path, for the problems */
  constructor(file: string, text: string, schema: Schema) {
    this.#file = file;
    this.#yaml = parseYaml(text);
    this.problems.push(...this.#yaml.faults.map((fault) => ({ file, ...fault })));
    if (!this.#yaml.value) return;
    const { data, error } = schema.safeParse(this.#yaml.value);
    this.definition = data;
    const sound = structuredClone(this.#yaml.value);
    for (const issue of error?.issues.flatMap(innermost) ?? []) {
      this.#tell(issue);
      if (!isOfKind(issue)) Object(valueAt(sound, issue.path.slice(0, -1)))[issue.path.at(-1) ?? ''] = undefined;
    }
    this.sound = sound as Sound<z.input<Schema>>;
  }

  wrong(path: YamlPath, wanted: string, why = ''): void {
    this.problem(path, `${toDotPath(path)}: wanted ${wanted}, got ${got(valueAt(this.#yaml.value, path))}${why}`);
  }

  problem(path: YamlPath, message: string): void {
    const problem = this.#at(path, message);
    // Several checks of one value may want the same.
    const isTold = this.problems.some((told) => told.line === problem.line && told.message === message);
    if (!isTold) this.problems.push(problem);
  }

  warn(path: YamlPath, message: string): void {
    this.warnings.push(this.#at(path, message));
  }

  /** Reports each repeated name, with the line of its first use. */
  once(noun: string, named: readonly { readonly name: string | undefined; readonly path: YamlPath }[]): void {
    for (const { name, path } of named) {
      const first = named.find((other) => other.name === name);
      if (name === undefined || !first || first.path === path) continue;
      const again = `got ${describe(name)} again, which line ${this.#yaml.lineOf(first.path)} has`;
      this.problem(path, `${toDotPath(path)}: wanted each ${noun} once, ${again}`);
    }
  }

  #tell(issue: z.core.$ZodIssue): void {
    if (issue.code !== 'unrecognized_keys') return this.wrong(issue.path, issue.message);
    for (const key of issue.keys) {
      const likely = closestName(key, issue.message.split(', '));
      const hint = likely === undefined ? '' : `; did you mean ${likely}?`;
      this.problem([...issue.path, key], `unknown key ${describe(key)}: wanted one of ${issue.message}${hint}`);
    }
  }

  #at(path: YamlPath, message: string): Problem {
    return { file: this.#file, line: this.#yaml.lineOf(path), message };
  }
}

/** Returns the problems of the items if one of several accepted kinds has items. */
function innermost(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  const inside = issue.code === 'invalid_union' ? issue.errors.flat().filter(({ path }) => path.length > 0) : [];
  return inside.length === 0 ? [issue] : inside.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

/** Returns whether further checks can use the value. Zod does not check the items of a list that is too long. */
function isOfKind(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'too_big') return issue.origin !== 'array';
  return issue.code === 'too_small' || issue.code === 'unrecognized_keys';
}

function valueAt(value: unknown, path: YamlPath): unknown {
  return path.reduce((holder: unknown, step) => Object(holder)[step], value);
}

function got(value: unknown): string {
  if (!Array.isArray(value)) return value === undefined ? 'nothing' : describe(value);
  return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
}

/** The path of a value within a file: keys of mappings, positions in lists. */
export type YamlPath = readonly PropertyKey[];

/** The text of a definition file, which is one mapping. */
interface YamlFile {
  /** As plain values; undefined where it is no mapping, or broken. */
  readonly value: object | undefined;
  /** Why there is no value. */
  readonly faults: readonly { readonly line: number; readonly message: string }[];
  /** The line of a key or a list item; of what should hold it, where it is not there. */
  lineOf(path: YamlPath): number;
}

function parseYaml(text: string): YamlFile {
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
  const refused = (message: string): YamlFile => ({ value: undefined, faults: [{ line: 1, message }], lineOf });
  if (broken.length > 0) return { value: undefined, faults: broken, lineOf };
  if (!isMap(document.contents)) return refused('wanted a mapping of keys to values');
  try {
    return { value: document.toJS() as object, faults: [], lineOf };
  } catch (error) {
    // An alias of nothing, or of so much that it would fill the memory.
    return refused(error instanceof Error ? error.message : String(error));
  }
}
