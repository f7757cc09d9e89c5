import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MARK = 'schemaless-local-stack';

export interface DataFolder {
  readonly root: string;
  readonly assembly: string;
  readonly dynamodb: string;
  readonly sqs: string;
  readonly functionLog: string;
  readonly metricLog: string;
  readonly requestLog: string;
  readonly endpoints: string;
  readonly customResources: string;
  readonly queues: string;
  readonly control: string;
  readonly groupCount: string;
  readonly mostShards: string;
  readonly keepCopies: string;
  readonly snapshots: string;
  readonly setBacks: string;
}

export function dataFolder(root: string): DataFolder {
  return {
    root,
    assembly: join(root, 'cdk.out'),
    dynamodb: join(root, 'dynamodb'),
    sqs: join(root, 'sqs'),
    functionLog: join(root, 'functions.log'),
    metricLog: join(root, 'metrics.log'),
    requestLog: join(root, 'requests.log'),
    endpoints: join(root, 'endpoints.json'),
    customResources: join(root, 'custom-resources.json'),
    queues: join(root, 'queues.json'),
    control: join(root, 'control.json'),
    groupCount: join(root, 'group-count'),
    mostShards: join(root, 'most-shards'),
    keepCopies: join(root, 'keep-copies'),
    snapshots: join(root, 'snapshots'),
    setBacks: join(root, 'set-backs.json'),
  };
}

/** True for a folder that a local stack made: the only kind that may be deleted. */
export function isDataFolder(root: string): boolean {
  return existsSync(join(root, MARK));
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
