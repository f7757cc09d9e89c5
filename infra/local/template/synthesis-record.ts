import { type AppContext, PROJECT_ROOT } from '../../app-context.ts';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hashOfSettings, SourceState } from '../../stacks/source-state.ts';
import { writeFileAtomically } from '../folder/state-file.ts';

/** The order to the synthesis process. */
export interface SynthesisOrder {
  readonly app: string;
  readonly context: AppContext;
  readonly folder: string;
}

export interface SynthesisReport {
  readonly read: readonly string[];
}

/**
 * The inputs of an assembly. It is reused only if all of this is unchanged, by content:
 *
 * - the order: the app, and its context with every flag;
 * - Node's version, the machine, and the environment variables of Node, the CDK and the bundler;
 * - every file below `infra/`, `functions/`, `shared/`, the definitions and the functions;
 * - every loaded module and bundled file, with the names next to it and the `package.json`, `tsconfig.json` and
 * packages above it;
 * - npm's record of installed packages, and `cdk.json`;
 * - the assembly itself.
 */
interface SynthesisRecord {
  readonly order: string;
  readonly trees: string;
  readonly files: readonly string[];
  /** A hash of these files and their surroundings. */
  readonly found: string;
  readonly made: Readonly<Record<string, number>>;
}

const FILE = 'synthesis.json';

/** Records what an assembly was made from, unless a file changed since `startedAt` or is unchecked. */
export function recordSynthesis(order: SynthesisOrder, read: readonly string[], startedAt: number): void {
  const isMade = (file: string): boolean => file.startsWith(join(order.folder, '/'));
  const files = [...new Set(read)].filter((file) => existsSync(file) && !isMade(file)).sort();
  const state = new SourceState();
  const record: SynthesisRecord = {
    order: hashOfSettings(order),
    trees: treesOf(state, order),
    files,
    found: state.around(files),
    made: sizesBelow(order.folder),
  };
  if (!state.isCertain(startedAt)) return;
  writeFileAtomically(join(order.folder, FILE), JSON.stringify(record));
}

/** Returns the recorded files if a synthesis would produce the same assembly. */
export function synthesizedFrom(order: SynthesisOrder): readonly string[] | undefined {
  const record = readRecord(order.folder);
  if (record === undefined || record.order !== hashOfSettings(order)) return undefined;
  if (Object.entries(record.made).some(([name, size]) => sizeOf(join(order.folder, name)) !== size)) return undefined;
  const state = new SourceState();
  return treesOf(state, order) === record.trees && state.around(record.files) === record.found
    ? record.files
    : undefined;
}

function readRecord(folder: string): SynthesisRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as SynthesisRecord;
  } catch {
    return undefined;
  }
}

function treesOf(state: SourceState, { context }: SynthesisOrder): string {
  const own = ['infra', 'functions', 'shared'].map((name) => join(PROJECT_ROOT, name));
  const given = [context.datastores, context.functions].filter((folder) => typeof folder === 'string');
  return state.trees([...own, ...given]);
}

function sizesBelow(folder: string): Readonly<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(folder, name));
    if (found.isFile()) sizes[name] = found.size;
  }
  return sizes;
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
