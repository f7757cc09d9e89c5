import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../app-context.ts';
import { hashOfSettings, SourceLook } from '../../stacks/source-look.ts';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';
import type { SynthesisOrder } from './synthesis-order.ts';

/**
 * What an assembly was made from, kept within it. It is used again only where all of this is as it was:
 *
 * - what was ordered: the app, and its context with every flag that reaches the template;
 * - the version of Node, the machine's kind, and the environment variables that Node, the CDK and the bundler look at;
 * - every file below `infra/`, `functions/` and `shared/`, but for packages and what is built of them, the definitions and
 *   the functions, wherever they are;
 * - every module that the synthesis loaded, and every file that went into a bundle, those of packages included;
 * - for each of them the names beside it, and the `package.json`, `tsconfig.json` and packages of every folder above it:
 *   what would be found in its place;
 * - what npm says that it installed, and `cdk.json`;
 * - that the assembly itself is whole.
 *
 * Contents are compared, not times, so that another branch and back is no change.
 */
interface SynthesisRecord {
  readonly order: string;
  readonly trees: string;
  /** The files looked at one by one, by name. */
  readonly files: readonly string[];
  /** Of these files, and of all that lies around them. */
  readonly found: string;
  /** The size of each file of the assembly. */
  readonly made: Readonly<Record<string, number>>;
}

const FILE = 'synthesis.json';

/**
 * Writes down what an assembly was made from. Leaves it, so that the next start synthesizes, where that cannot be told:
 * a file was changed meanwhile, or settings come from a file that is not looked at.
 *
 * @param read the modules that were loaded and the files that were bundled
 * @param startedAt by `Date.now()`
 */
export function recordSynthesis(order: SynthesisOrder, read: readonly string[], startedAt: number): void {
  const isMade = (file: string): boolean => file.startsWith(join(order.folder, '/'));
  const files = [...new Set(read)].filter((file) => existsSync(file) && !isMade(file)).sort();
  const look = new SourceLook();
  const record: SynthesisRecord = {
    order: hashOfSettings(order),
    trees: treesOf(look, order),
    files,
    found: look.around(files),
    made: sizesBelow(order.folder),
  };
  if (!look.isCertain(startedAt)) return;
  writeFileAtomically(join(order.folder, FILE), JSON.stringify(record));
}

/** The files that went into what is in the folder, if a synthesis would make the same again; else undefined. */
export function synthesizedFrom(order: SynthesisOrder): readonly string[] | undefined {
  const record = readRecord(order.folder);
  if (record === undefined || record.order !== hashOfSettings(order)) return undefined;
  if (Object.entries(record.made).some(([name, size]) => sizeOf(join(order.folder, name)) !== size)) return undefined;
  const look = new SourceLook();
  return treesOf(look, order) === record.trees && look.around(record.files) === record.found ? record.files : undefined;
}

function readRecord(folder: string): SynthesisRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as SynthesisRecord;
  } catch {
    return undefined;
  }
}

/** Everything below the folders that sources and definitions come from. */
function treesOf(look: SourceLook, { context }: SynthesisOrder): string {
  const own = ['infra', 'functions', 'shared'].map((name) => join(PROJECT_ROOT, name));
  const given = [context.datastores, context.functions].filter((folder) => typeof folder === 'string');
  return look.trees([...own, ...given]);
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
