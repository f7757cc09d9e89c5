import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** An error that a trigger's function threw, as it is kept and logged. */
export interface Failure {
  /** The reason, and its place: at most 500 characters, for the state table, the API and the log. */
  readonly error: string;
  /** The stack, and those of its causes: at most 4096 characters, for the log. Undefined if there is none. */
  readonly stack: string | undefined;
}

const MOST_REASON = 500;
const MOST_STACK = 4096;
const MOST_CAUSES = 5;

/** Describes an error by names, messages and stacks alone: its other members may contain bodies. */
export function describeFailure(thrown: unknown): Failure {
  try {
    return described(thrown);
  } catch {
    // Its members throw, or it has no text: the call counts as failed all the same.
    return { error: 'an error that cannot be described', stack: undefined };
  }
}

function described(thrown: unknown): Failure {
  const stacks: string[] = [];
  for (let error = thrown; error instanceof Error && stacks.length <= MOST_CAUSES; error = error.cause)
    stacks.push(inSources(String(error.stack ?? error)));
  const place = firstPlace(stacks[0] ?? '');
  return {
    error: reasonOf(thrown, place === undefined ? '' : ` at ${place}`),
    stack: stacks.length === 0 ? undefined : stacks.join('\ncaused by ').slice(0, MOST_STACK),
  };
}

/** Returns the reason in at most 500 characters. */
export function reasonOf(error: unknown, place = ''): string {
  const text =
    error instanceof Error
      ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}`
      : typeof error === 'object' && error !== null
        ? 'it threw an object that is no Error'
        : String(error);
  const room = MOST_REASON - place.length;
  return `${text.length > room ? `${text.slice(0, room - 1)}…` : text}${place}`;
}

const FRAME = /^ +at (?:.*\()?(?:async )?(?<file>[^()]+?):(?<line>\d+):\d+\)?$/u;
const OF_OTHERS = /^node:|[\\/]node_modules[\\/]/u;
/** Below the root of this package; other folders may have functions of triggers. */
const OF_PACKAGE = /^(?:shared|functions\/triggers)\//u;
/** The callers of functions: later frames are not the function's. */
const CALLER = /^(?:shared\/triggers\/consume\/call-function|functions\/triggers\/loaded-trigger)\./u;
const THIS_FILE = /shared\/triggers\/consume\/describe-failure\.[jt]s$/u;

/** Returns the place of the function's first frame outside of packages and Node, like `billing.ts:12`. */
function firstPlace(stack: string): string | undefined {
  const { root } = sources();
  for (const line of stack.split('\n')) {
    const { file, line: at } = FRAME.exec(line)?.groups ?? {};
    if (file === undefined) continue;
    const own = root !== undefined && file.startsWith(root) ? file.slice(root.length) : '';
    if (CALLER.test(own)) return undefined;
    if (OF_PACKAGE.test(own) || OF_OTHERS.test(file)) continue;
    return `${file.replace(/\?.*$/u, '').replace(/^.*[\\/]/u, '')}:${at}`;
  }
  return undefined;
}

/** Returns a stack with the places in the sources, if the bundle of this code has a source map next to it. */
function inSources(stack: string): string {
  const { bundle, map } = sources();
  if (map === undefined) return stack;
  return stack.split(`${bundle}:`).reduce((before, after) => {
    const [all, line, column] = /^(\d+):(\d+)/u.exec(after) ?? [];
    const origin = map.findOrigin(Number(line), Number(column));
    return all !== undefined && 'fileName' in origin
      ? `${before}${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}${after.slice(all.length)}`
      : `${before}${bundle}:${after}`;
  });
}

interface Sources {
  readonly bundle: string;
  readonly map: SourceMap | undefined;
  /** Of this package, as stacks show it; undefined within a bundle without a map. */
  readonly root: string | undefined;
}

let known: Sources | undefined;

function sources(): Sources {
  if (known) return known;
  // Undefined in a bundle of CommonJS.
  const bundle = String(import.meta.url);
  const map = mapOf(bundle);
  const file = map?.payload.sources.find((source) => THIS_FILE.test(source)) ?? bundle;
  return (known = { bundle, map, root: THIS_FILE.test(file) ? file.replace(THIS_FILE, '') : undefined });
}

function mapOf(bundle: string): SourceMap | undefined {
  try {
    const path = `${fileURLToPath(bundle)}.map`;
    return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
  } catch {
    return undefined;
  }
}
