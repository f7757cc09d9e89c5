import { UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../dynamo/table.ts';
import { progressKey } from './index-progress.ts';
import type { IndexName } from './index-catalogue.ts';

/** A field of a version of an index, and rows whose latest cell had it with another type. */
export interface MistypedFound {
  readonly hash: string;
  readonly position: number;
  readonly rows: number;
  /** One of them. */
  readonly row_key: string;
}

/** What was counted of a version's field since the version was listed. */
export interface MistypedCounted extends MistypedFound {
  /** When one was found last: RFC 3339, UTC. */
  readonly at: string;
}

/** Fields counted with one write: an expression has its limits. */
const FIELDS_A_WRITE = 20;
const COUNT = /^mistyped_([0-9a-f]{8})_(\d+)$/u;

/** Adds to an index's counts of mistyped fields, with an example: one number a field, in its progress item. */
export async function addMistyped(
  { client, table }: DynamoTable,
  index: IndexName,
  found: readonly MistypedFound[],
  at = new Date(),
): Promise<void> {
  for (let all = found; all.length > 0; all = all.slice(FIELDS_A_WRITE)) {
    const page = all
      .slice(0, FIELDS_A_WRITE)
      .map((one, item) => ({ ...one, item, suffix: `${one.hash}_${one.position}` }));
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: progressKey(index) },
        UpdateExpression: `SET ${page.map(({ item }) => `#e${item} = :e${item}, #f${item} = :at`).join(', ')} ADD ${page.map(({ item }) => `#m${item} :m${item}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(
          page.flatMap(({ item, suffix }) => [
            [`#m${item}`, `mistyped_${suffix}`],
            [`#e${item}`, `example_${suffix}`],
            [`#f${item}`, `found_${suffix}`],
          ]),
        ),
        ExpressionAttributeValues: Object.fromEntries<AttributeValue>([
          [':at', { S: at.toISOString() }],
          ...page.flatMap(({ item, rows, row_key }): [string, AttributeValue][] => [
            [`:m${item}`, { N: String(rows) }],
            [`:e${item}`, { S: row_key }],
          ]),
        ]),
      }),
    );
  }
}

/** Takes the counts of a version away, after it was forgotten. */
export async function forgetMistyped(
  { client, table }: DynamoTable,
  index: IndexName,
  hash: string,
  fields: number,
): Promise<void> {
  const names = Array.from({ length: fields }, (_, position) =>
    ['mistyped', 'example', 'found'].map((what) => `${what}_${hash}_${position}`),
  ).flat();
  for (let all = names; all.length > 0; all = all.slice(FIELDS_A_WRITE)) {
    const page = all.slice(0, FIELDS_A_WRITE);
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: progressKey(index) },
        UpdateExpression: `REMOVE ${page.map((_, item) => `#n${item}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(page.map((name, item) => [`#n${item}`, name])),
      }),
    );
  }
}

/** The counts that an item holds, in the order of versions and fields. */
export function toMistyped(item: Record<string, AttributeValue>): MistypedCounted[] {
  return Object.entries(item)
    .flatMap(([attribute, { N: rows }]) => {
      const [, hash = '', position = ''] = COUNT.exec(attribute) ?? [];
      return hash === ''
        ? []
        : [
            {
              hash,
              position: Number(position),
              rows: Number(rows),
              row_key: item[`example_${hash}_${position}`]?.S ?? '',
              at: item[`found_${hash}_${position}`]?.S ?? '',
            },
          ];
    })
    .sort((one, other) => one.hash.localeCompare(other.hash) || one.position - other.position);
}
