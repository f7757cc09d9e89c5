import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MARK = 'schemaless-local-stack';

/** The contents of a data folder, by the names of its files and folders. */
const PARTS = {
  assembly: 'cdk.out',
  dynamodb: 'dynamodb',
  sqs: 'sqs',
  functionLog: 'functions.log',
  metricLog: 'metrics.log',
  requestLog: 'requests.log',
  endpoints: 'endpoints.json',
  customResources: 'custom-resources.json',
  queues: 'queues.json',
  control: 'control.json',
  groupCount: 'group-count',
  mostShards: 'most-shards',
  keepCopies: 'keep-copies',
  snapshots: 'snapshots',
  restoreTimes: 'restored.json',
} as const;

/** Paths. */
export type DataFolder = Readonly<Record<'root' | keyof typeof PARTS, string>>;

export function dataFolder(root: string): DataFolder {
  const parts = Object.entries(PARTS).map(([part, name]) => [part, join(root, name)]);
  return { root, ...(Object.fromEntries(parts) as Record<keyof typeof PARTS, string>) };
}

/** True for a folder that a local stack made: the only kind that may be deleted. */
export function isDataFolder(root: string): boolean {
  return existsSync(join(root, MARK));
}

/** Throws an Error for a folder that no local stack made. */
export function existingFolder(root: string): DataFolder {
  if (isDataFolder(root)) return dataFolder(root);
  throw new Error(`--data: wanted the folder of a local stack, got ${root}, which is none`);
}

/** Makes the folder for its owner alone. Throws if it holds other files. */
export function makeDataFolder(root: string): DataFolder {
  if (!isDataFolder(root)) {
    if (existsSync(root) && readdirSync(root).length > 0)
      throw new Error(`--data: wanted an empty folder or one of a local stack, got ${root}, which holds other files`);
    mkdirSync(root, { recursive: true, mode: 0o700 });
    writeFileSync(join(root, MARK), 'The data of a local Schemaless stack. `npm run local -- reset` deletes it.\n');
  }
  return dataFolder(root);
}

/** Returns eight hexadecimal digits that tell this stack's names from other stacks' in a shared service. */
export function stackId({ root }: Pick<DataFolder, 'root'>): string {
  const path = join(root, 'stack-id');
  if (!existsSync(path)) writeFileSync(path, randomBytes(4).toString('hex'));
  return readFileSync(path, 'utf8');
}
