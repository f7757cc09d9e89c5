import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { allItems } from '../../../shared/dynamo/table.ts';
import { invalidField } from '../../../shared/errors.ts';
import type { EngineKind } from '../../setup/engine.mjs';
import type { DataFolder } from '../folder/data-folder.ts';
import { writeFileAtomically } from '../folder/state-file.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { dynamoClient } from '../login/clients.ts';
import type { LocalStack } from '../running/running-stack.ts';

export type TableItem = Record<string, AttributeValue>;

export interface Snapshot {
  readonly taken_at: string;
  readonly engine: EngineKind;
  /** The end of each group's log; every server keeps every log, so that it can be replayed. */
  readonly groups: Readonly<Record<string, string>>;
  /** DynamoDB's items by table, read later than the logs: no epoch is below that of a shard's row. */
  readonly tables: Readonly<Record<string, readonly TableItem[]>>;
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/u;

/** Throws SchemalessError `invalid_field` for an invalid name. */
export function snapshotFile({ snapshots }: Pick<DataFolder, 'snapshots'>, name: string): string {
  if (!NAME.test(name)) throw invalidField('snapshot', 'a name of a-z, 0-9 and hyphens', name);
  return join(snapshots, `${name}.json`);
}

export function writeSnapshot(folder: Pick<DataFolder, 'snapshots'>, name: string, snapshot: Snapshot): void {
  const file = snapshotFile(folder, name);
  if (existsSync(file)) throw invalidField('snapshot', `a name that no snapshot has (${file} may be deleted)`, name);
  mkdirSync(folder.snapshots, { recursive: true, mode: 0o700 });
  writeFileAtomically(file, JSON.stringify(snapshot, withBytes));
}

/** Throws SchemalessError `invalid_field` with the known names. */
export function readSnapshot(folder: Pick<DataFolder, 'snapshots'>, name: string): Snapshot {
  const file = snapshotFile(folder, name);
  if (!existsSync(file))
    throw invalidField(
      'snapshot',
      snapshotNames(folder).length === 0
        ? `one of ${folder.snapshots}, where there is none`
        : `one of ${snapshotNames(folder).join(', ')}`,
      name,
    );
  return JSON.parse(readFileSync(file, 'utf8'), toBytes) as Snapshot;
}

function snapshotNames({ snapshots }: Pick<DataFolder, 'snapshots'>): readonly string[] {
  if (!existsSync(snapshots)) return [];
  return readdirSync(snapshots)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length));
}

/** The oldest first. */
export function listSnapshots(
  folder: Pick<DataFolder, 'snapshots'>,
): readonly (Pick<Snapshot, 'taken_at'> & { readonly name: string })[] {
  return snapshotNames(folder)
    .map((name) => ({ name, taken_at: readSnapshot(folder, name).taken_at }))
    .toSorted((one, other) => (one.taken_at < other.taken_at ? -1 : 1));
}

/** JSON has no bytes. */
function withBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

function toBytes(_key: string, value: unknown): unknown {
  const { base64 } = Object(value) as { readonly base64?: unknown };
  return typeof base64 === 'string' ? new Uint8Array(Buffer.from(base64, 'base64')) : value;
}

const BATCH = 25;
const AGAIN_MS = 100;

/** Makes the items the table's only ones. No other writer may run. */
export async function replaceItems(client: DynamoDBClient, table: string, items: readonly TableItem[]): Promise<void> {
  const kept = new Set(items.map(keyOf));
  const gone = (await allItems({ client, table })).filter((item) => !kept.has(keyOf(item)));
  const writes: WriteRequest[] = [
    ...gone.map(({ pk = { S: '' } }) => ({ DeleteRequest: { Key: { pk } } })),
    ...items.map((Item) => ({ PutRequest: { Item } })),
  ];
  for (let start = 0; start < writes.length; start += BATCH) {
    for (let left = writes.slice(start, start + BATCH); left.length > 0;) {
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: left } }));
      left = UnprocessedItems?.[table] ?? [];
      if (left.length > 0) await sleep(AGAIN_MS);
    }
  }
}

function keyOf({ pk }: TableItem): string {
  return pk?.S ?? '';
}

/** The end of the keys table's logical id: an environment may be named `keys`. */
const KEYS_TABLE = /keys[0-9A-F]{8}$/u;

export async function takeSnapshot({ groups, endpoints }: Pick<LocalStack, 'groups' | 'endpoints'>): Promise<Snapshot> {
  const taken_at = new Date().toISOString();
  const positions = await groups.positions();
  using client = dynamoClient(endpoints.dynamodb);
  // Keys stay as they are: a forgotten key must not return.
  const restore = endpoints.tables.filter((table) => !KEYS_TABLE.test(table));
  const tables = await Promise.all(restore.map(async (table) => [table, await allItems({ client, table })] as const));
  return {
    taken_at,
    engine: groups.engine.kind,
    groups: Object.fromEntries(positions),
    tables: Object.fromEntries(tables),
  };
}
