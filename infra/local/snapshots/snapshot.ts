import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invalidField } from '../../../shared/errors.ts';
import type { EngineKind } from '../../setup/engine.mjs';
import type { DataFolder } from '../folder/data-folder.ts';
import { writeFileAtomically } from '../folder/write-file-atomically.ts';

export type TableItem = Record<string, AttributeValue>;

export interface Snapshot {
  readonly taken_at: string;
  readonly engine: EngineKind;
  /** Where each group's log ended; every server keeps every log, so that it can be replayed. */
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
