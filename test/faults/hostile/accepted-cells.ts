import { readExact, type ExactJson } from './exact-json.ts';
import { memberText } from './judge.ts';
import type { HostileRequest, HttpAnswer } from './send.ts';

interface AcceptedCell {
  readonly row_key: string;
  readonly column_name: string;
  /** The ref key as the request wrote it. */
  readonly ref_key: string;
  readonly body: string;
}

export type AcceptedCells = Map<string, AcceptedCell>;

/** Records the cells that an answer says were accepted. Returns how many it reports wrongly. */
export function noteAccepted(cells: AcceptedCells, request: HostileRequest, answer: HttpAnswer): number {
  if (answer.status < 200 || answer.status >= 300 || request.body === undefined) return 0;
  if (request.method === 'PUT') {
    const output = readExact(answer.text);
    return note(cells, memberText(output, 'outcome'), cellOf(output, readExact(request.body.toString())));
  }
  if (!/\/batch-(?:put|restore)(?:\?|$)/u.test(request.target)) return 0;
  const results = readExact(answer.text).members?.get('results')?.items ?? [];
  const sent = readExact(request.body.toString()).members?.get('cells')?.items ?? [];
  return sent.reduce(
    (wrong, cell, position) =>
      wrong + note(cells, memberText(results[position], 'outcome'), cellOf(cell, cell.members?.get('body'))),
    0,
  );
}

/** Returns the cell of an address and a body. */
function cellOf(address: ExactJson, body: ExactJson | undefined): AcceptedCell {
  return {
    row_key: memberText(address, 'row_key').toLowerCase(),
    column_name: memberText(address, 'column_name'),
    ref_key: address.members?.get('ref_key')?.number ?? '',
    body: body?.canonical ?? 'nothing',
  };
}

/** `1e3` and `1000` are one ref key. */
function addressOf({ row_key, column_name, ref_key }: AcceptedCell): string {
  return `${row_key}/${Number(ref_key)}/${column_name}`;
}

function note(cells: AcceptedCells, outcome: string, cell: AcceptedCell): number {
  if (outcome === 'conflict') return 0;
  const address = addressOf(cell);
  const known = cells.has(address);
  if (!known) cells.set(address, cell);
  // Neither is possible: a cell stored twice, or an unknown outcome.
  return outcome === 'stored' ? Number(known) : Number(outcome !== 'stored_before' && outcome !== 'buffered');
}

/** The comparison of accepted cells with the stored ones. */
export interface ReadBack {
  /** Accepted cells that are missing or changed. */
  readonly changed: number;
  /** Cells that were never accepted: bad input that changed something. */
  readonly extra: number;
  readonly examples: readonly string[];
}

/** The end of each shard's log. */
type Heads = ReadonlyMap<string, string>;

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

/** Reads the cells written since from the logs of all shards, and each accepted cell by its address. */
export async function readAccepted(url: string, cells: AcceptedCells, heads: Heads): Promise<ReadBack> {
  const found = await readLogs(url, heads);
  const wrong = new Set<string>();
  for (const [address, { body }] of cells) if (found.get(address) !== body) wrong.add(address);
  const all = [...cells.values()];
  for (let start = 0; start < all.length; start += KEYS) {
    const page = all.slice(start, start + KEYS);
    const answers = await readKeys(url, page.map(keyText));
    for (const [position, cell] of page.entries()) {
      const answer = answers[position];
      const there = answer && cellOf(answer, answer.members?.get('body'));
      if (there?.body !== cell.body || addressOf(there) !== addressOf(cell)) wrong.add(addressOf(cell));
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
      const { members } = await ask(`${url}/v1/trips/shards/${shard}/cells?limit=1000&after=${after}`);
      const page: readonly ExactJson[] = members?.get('cells')?.items ?? [];
      for (const cell of page) {
        const one = cellOf(cell, cell.members?.get('body'));
        found.set(addressOf(one), one.body);
      }
      after = page.at(-1)?.members?.get('added_id')?.number;
    }
  }
  return found;
}

function keyText({ row_key, column_name, ref_key }: AcceptedCell): string {
  return `{"row_key":"${row_key}","column_name":${JSON.stringify(column_name)},"ref_key":${ref_key}}`;
}

/** Reads cells, singly if they do not fit into one answer. */
async function readKeys(url: string, keys: readonly string[]): Promise<readonly (ExactJson | undefined)[]> {
  const { members } = await ask(`${url}/v1/trips/batch-get`, `{"keys":[${keys.join(',')}]}`);
  const items = members?.get('cells')?.items ?? [];
  if (keys.length === 1) return items;
  return Promise.all(
    keys.map(async (key, position) =>
      items[position]?.members?.has('error') === true && !items[position].members.has('row_key')
        ? (await readKeys(url, [key]))[0]
        : items[position],
    ),
  );
}

async function ask(url: string, body?: string): Promise<ExactJson> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} was answered ${response.status} ${text.slice(0, 300)}`);
  return readExact(text);
}
