import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, inflateSync } from 'node:zlib';
import { readState, setState, type StateItem } from './state-table.ts';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from './table.ts';

/** The item's next state: its attributes and `version`; those left out of `attributes` are removed. */
export interface ItemChange<T> {
  /** Undefined: nothing is written. */
  readonly values?: Readonly<Record<string, AttributeValue | undefined>>;
  readonly result: T;
}

/** A few look after one shard at once; more losses in a row than this are a fault. */
const MAX_TRIES = 50;

/**
 * Changes an item despite concurrent changes. The result of `change` is written only over the item that it was computed
 * from; otherwise it is computed again. A write that succeeded without an answer is not done twice.
 */
export async function changeItem<T>(
  table: DynamoTable,
  key: string,
  change: (item: StateItem | undefined) => ItemChange<T>,
): Promise<T> {
  const mine = new Map<string, T>();
  for (let tries = 1; ; tries += 1) {
    const item = await readState(table, key);
    const last = item?.['version']?.S;
    if (last !== undefined && mine.has(last)) return mine.get(last) as T;
    const { values, result } = change(item);
    if (!values) return result;
    const version = randomUUID();
    mine.set(version, result);
    const unchanged =
      last === undefined
        ? { condition: 'attribute_not_exists(#version)' }
        : { condition: '#version = :last', values: { ':last': { S: last } } };
    if (await setState(table, key, { ...values, version: { S: version } }, unchanged)) return result;
    if (tries === MAX_TRIES) throw new Error(`${key}: others changed it ${MAX_TRIES} times while it was to be changed`);
    await sleep(Math.random() * 10 * Math.min(tries, 10));
  }
}

/** Errors repeat from cell to cell, and DynamoDB counts by the kilobyte: a tenth of the JSON, as a rule. */
export function pack(value: unknown): Uint8Array {
  return deflateSync(JSON.stringify(value));
}

export function unpack<T>(attribute: AttributeValue | undefined, none: T): T {
  return attribute?.B ? (JSON.parse(inflateSync(attribute.B).toString()) as T) : none;
}
