import { addressOf, cellOf, type AcceptedCells } from './accepted-cells.ts';
import { readExact, type ExactJson } from './exact-json.ts';

/** What was accepted, held against what is there. */
export interface ReadBack {
  /** Not there, or other than they were accepted. */
  readonly changed: number;
  /** There, but never accepted: bad input that changed something. */
  readonly extra: number;
  readonly examples: readonly string[];
}

/** Where each shard's log ended. */
export type Heads = ReadonlyMap<string, string>;

const KEYS = 100;
const EXAMPLES = 3;

export async function readHeads(url: string): Promise<Heads> {
  const { members } = await ask(`${url}/v1/trips/shards`);
  return new Map(
    members
      ?.get('shards')
      ?.items?.map((shard) => [shard.members?.get('shard')?.number ?? '', shard.members?.get('head')?.number ?? '']),
  );
}

/** Reads what was written since from the logs of all shards, and each accepted cell by its address. */
export async function readAccepted(url: string, cells: AcceptedCells, heads: Heads): Promise<ReadBack> {
  const found = await readLogs(url, heads);
  const wrong = new Set<string>();
  for (const [address, { body }] of cells) if (found.get(address) !== body) wrong.add(address);
  const all = [...cells.values()];
  for (let start = 0; start < all.length; start += KEYS) {
    const page = all.slice(start, start + KEYS);
    const answers = await readKeys(url, page.map(keyText));
    for (const [place, cell] of page.entries()) {
      const answer = answers[place];
      if (
        answer === undefined ||
        cellOf(answer, answer.members?.get('body')).body !== cell.body ||
        addressOf(cellOf(answer, undefined)) !== addressOf(cell)
      )
        wrong.add(addressOf(cell));
    }
  }
  const extra = [...found.keys()].filter((address) => !cells.has(address));
  const shown = (what: string, address: string): string =>
    `${what} ${JSON.stringify(address.slice(0, 100))}: ${cells.get(address)?.body.slice(0, 60)}, ${found.get(address)?.slice(0, 60)}`;
  return {
    changed: wrong.size,
    extra: extra.length,
    examples: [
      ...[...wrong].map((address) => shown('changed', address)),
      ...extra.map((address) => shown('never accepted', address)),
    ].slice(0, EXAMPLES),
  };
}

async function readLogs(url: string, heads: Heads): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [shard, head] of heads) {
    for (let after: string | undefined = head; after !== undefined;) {
      const page: readonly ExactJson[] =
        (await ask(`${url}/v1/trips/shards/${shard}/cells?limit=1000&after=${after}`)).members?.get('cells')?.items ??
        [];
      for (const cell of page) {
        const { body, ...address } = cellOf(cell, cell.members?.get('body'));
        found.set(addressOf({ ...address, body }), body);
      }
      after = page.at(-1)?.members?.get('added_id')?.number;
    }
  }
  return found;
}

function keyText({
  row_key,
  column_name,
  ref_key,
}: {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: string;
}): string {
  return `{"row_key":"${row_key}","column_name":${JSON.stringify(column_name)},"ref_key":${ref_key}}`;
}

/** What does not fit into one answer is asked for alone. */
async function readKeys(url: string, keys: readonly string[]): Promise<readonly (ExactJson | undefined)[]> {
  const items =
    (await ask(`${url}/v1/trips/batch-get`, `{"keys":[${keys.join(',')}]}`)).members?.get('cells')?.items ?? [];
  if (keys.length === 1) return items;
  return Promise.all(
    keys.map(async (key, place) =>
      items[place]?.members?.has('error') === true && !items[place].members.has('row_key')
        ? (await readKeys(url, [key]))[0]
        : items[place],
    ),
  );
}

async function ask(url: string, body?: string): Promise<ExactJson> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} was answered ${response.status} ${text.slice(0, 300)}`);
  return readExact(text);
}
