import { setTimeout as sleep } from 'node:timers/promises';
import { digestLog } from '../../../infra/cli/log/digest-log.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { Cell } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { queryAll } from '../../../shared/client/pages.ts';
import type { Share } from '../fault-run.ts';
import { INDEX, MAIL_INDEX, type Written } from './clinic.ts';

/** The cells and entries that were neither erased nor forgotten, and their positions. */
export interface Picture {
  readonly heads: ReadonlyMap<number, number>;
  /** The digest of each shard's log up to its first head. */
  readonly digests: ReadonlyMap<string, string>;
  /** The address and time of each cell by shard and added id, and its stored body unless its row is erased. */
  readonly places: ReadonlyMap<string, string>;
  readonly entries: ReadonlyMap<string, string>;
}

/** The polls of a hole before it counts as one. */
const POLLS = 5;
const AGAIN_MS = 500;
const PAGE = 1000;

/** @param first the picture before: digests then cover the same cells */
export async function takePicture(
  client: SchemalessClient,
  written: Pick<Written, 'erased' | 'kept' | 'others'>,
  first?: Picture,
): Promise<Picture> {
  const erased = new Set(written.erased.map(({ row_key }) => row_key));
  const heads = new Map<number, number>();
  const digests = new Map<string, string>();
  const places = new Map<string, string>();
  for (const { shard, ...found } of await client.heads()) {
    if (!('head' in found)) throw found.error;
    heads.set(shard, found.head);
    const wanted = first?.heads.get(shard) ?? found.head;
    const { at, digest } = await digestLog(client, { shard, at: wanted });
    digests.set(String(shard), `${at} ${digest}`);
    for await (const cell of cellsOf(client, shard, found.head))
      places.set(`${shard}/${cell.added_id}`, lineOf(cell, erased.has(cell.row_key)));
  }
  return { heads, digests, places, entries: await entriesOf(client, written) };
}

async function* cellsOf(client: SchemalessClient, shard: number, head: number): AsyncGenerator<Cell> {
  let polls = 0;
  for (let after = 0; after < head && polls < POLLS;) {
    const [log] = await client.log([{ shard, after }], { limit: PAGE, sealed: true });
    if (!log || log.error) throw log?.error ?? new Error('a log without an answer');
    yield* log.cells;
    polls = log.next === after ? polls + 1 : 0;
    if (polls > 0) await sleep(AGAIN_MS);
    after = log.next;
  }
}

function lineOf({ row_key, column_name, ref_key, created_at, body }: Cell, isOfErased: boolean): string {
  return stringifyJson([row_key, column_name, ref_key, created_at, ...(isOfErased ? [] : [body])]);
}

export async function entriesOf(
  client: SchemalessClient,
  { kept, others }: Pick<Written, 'kept' | 'others'>,
): Promise<ReadonlyMap<string, string>> {
  const entries = new Map<string, string>();
  const staying = new Set(kept.map(({ row_key }) => row_key));
  const where = { kind: 'row' };
  for await (const { row_key, fields } of queryAll(client, { index: INDEX, where, limit: PAGE }))
    if (staying.has(row_key)) entries.set(row_key, stringifyJson(fields));
  for (const { body } of others) {
    const value = String(Object(body).contact.mail);
    const mail = { 'contact.mail': value };
    for await (const { row_key, fields } of queryAll(client, { index: MAIL_INDEX, where: mail }))
      entries.set(row_key, stringifyJson(fields));
  }
  return entries;
}

export function changed(first: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Share {
  return { wrong: [...first].filter(([key, line]) => now.get(key) !== line).length, of: first.size };
}

export function holesOf({ heads, places }: Pick<Picture, 'heads' | 'places'>): Share {
  let [wrong, of] = [0, 0];
  for (const [shard, head] of heads)
    for (let id = 1; id <= head; id += 1) {
      of += 1;
      if (!places.has(`${shard}/${id}`)) wrong += 1;
    }
  return { wrong, of };
}
