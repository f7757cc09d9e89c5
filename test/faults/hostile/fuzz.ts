import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { corpus } from './corpus.ts';
import { KEPT } from './hostile-bodies.ts';
import { COLUMN_NAMES, NO_COUNTS, NO_PARAMETERS, NO_ROW_KEYS } from './hostile-names.ts';
import type { HostileRequest } from './send.ts';
import { words } from './words.ts';

const ROW_KEY = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/giu;
/** Returns write requests, and all others by route, so that no route is drawn less often for having fewer cases. */
function makeDrafts() {
  // Sent thousands of times: small, and without moves of shards.
  const drafts = corpus('fuzz').filter(
    ({ raw, body, target }) => raw === undefined && (body?.length ?? 0) < 70_000 && !target.includes('/moves'),
  );
  const writes = ['PUT', 'POST'].map((wanted) =>
    drafts.filter(({ method, target }) => method === wanted && /\/(?:cells|batch-put)\b/u.test(target)),
  );
  const routes = Map.groupBy(drafts, ({ target }) => /^\/v1\/trips\/([a-z-]+)/u.exec(target)?.[1]);
  return { writes, routes: [...routes.values()] };
}
let made: ReturnType<typeof makeDrafts> | undefined;

const VALUES = [
  ...Object.values(KEPT).filter(({ length }) => length < 500),
  ...COLUMN_NAMES.map((name) => JSON.stringify(name)),
];
const METHODS = words('GET PUT POST DELETE HEAD PATCH OPTIONS');
const TYPES = words('text/plain application/octet-stream application/json;charset=latin1 x');

/** Returns the nth request: one of the corpus, of a new row, sometimes with an error in it. */
export function fuzzed(seed: string, position: number): HostileRequest {
  const random = new Random(seed, 'fuzz', position);
  const { writes, routes } = (made ??= makeDrafts());
  const draft = any(random, any(random, random.chance(0.5) ? writes : routes));
  const row = randomRowKey(random);
  const ofRow = (text: string): string => text.replaceAll(ROW_KEY, row);
  const target = ofRow(draft.target);
  const { wants: _wants, body, ...request } = { ...draft, what: `fuzz ${position}`, target };
  if (random.chance(0.1)) return { ...request, ...(body && { body }), target: elsewhere(random, target) };
  if (random.chance(0.03)) return { ...request, method: random.pick(METHODS) };
  if (!body) return request;
  const headers = random.chance(0.05) ? { 'content-type': random.pick(TYPES) } : (draft.headers ?? {});
  if (target.endsWith('batch-put')) {
    // A cell accepted by batch-restore reads back like any other.
    const time = random.chance(0.2) ? '"created_at":"2020-01-01T00:00:00Z",' : '';
    const cells = Array.from({ length: random.integer(1, 8) }, () => `{${time}${cellText(random)}}`);
    const at = time === '' ? target : target.replace('batch-put', 'batch-restore');
    return { ...request, headers, target: at, body: sometimesMutated(random, `{"cells":[${cells.join(',')}]}`) };
  }
  const isCell = request.method === 'PUT' && random.chance(0.7);
  return { ...request, headers, body: sometimesMutated(random, isCell ? bodyText(random) : ofRow(body.toString())) };
}

function cellText(random: Random): string {
  const name = JSON.stringify(random.chance(0.6) ? any(random, COLUMN_NAMES) : 'BASE');
  return `"row_key":"${randomRowKey(random)}","column_name":${name},"ref_key":${random.integer(0, 1000)},"body":${bodyText(random)}`;
}

/** Returns JSON text of a random value; sometimes as the index expects it, except for one value. */
function bodyText(random: Random, depth = 0): string {
  const draw = random.next();
  const some = () => Array.from({ length: random.integer(0, 4) }, () => bodyText(random, depth + 1));
  if (depth === 0 && draw < 0.3)
    return `{"driver_uuid":"${randomRowKey(random)}","city":${bodyText(random, 1)},"fare":{"total":${bodyText(random, 1)}}}`;
  if (depth > 5 || draw < 0.6) return any(random, VALUES);
  if (draw < 0.8) return `[${some().join(' ,\n')}]`;
  return `{${some()
    .map((value, position) => `${JSON.stringify(`${any(random, COLUMN_NAMES)}${position}`)}:${value}`)
    .join(',')}}`;
}

/** Returns a target with another part of its path, or with one more parameter. */
function elsewhere(random: Random, target: string): string {
  const parameter = any(random, NO_PARAMETERS);
  if (random.chance(0.4)) return `${target}${target.includes('?') ? '&' : '?'}${parameter}`;
  const segments = target.split('/');
  const other = any(random, [...NO_COUNTS, ...NO_ROW_KEYS, encodeURIComponent(any(random, COLUMN_NAMES)), '', '{x}']);
  return segments.with(random.integer(1, segments.length - 1), other).join('/');
}

function sometimesMutated(random: Random, text: string): Buffer {
  return random.chance(0.4) ? mutated(random, Buffer.from(text)) : Buffer.from(text);
}

const INSERTED = words('\0 " \\ { } [ ] , : \ufeff \\u0000 \\ud800 1e999 - é');

/** Returns the bytes with one to four errors: a flipped bit, an added byte, a part left out or doubled. */
function mutated(random: Random, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes);
  for (let left = random.integer(1, 4); left > 0; left -= 1) {
    const at = random.integer(0, result.length);
    const to = Math.min(result.length, at + random.integer(1, 12));
    const draw = random.next();
    if (draw < 0.3 && at < result.length) result[at] = (result[at] ?? 0) ^ (1 << random.integer(0, 7));
    else if (draw < 0.6)
      result = Buffer.concat([result.subarray(0, at), Buffer.from(random.pick(INSERTED)), result.subarray(at)]);
    else if (draw < 0.8) result = Buffer.concat([result.subarray(0, at), result.subarray(to)]);
    else result = Buffer.concat([result.subarray(0, to), result.subarray(at)]);
  }
  return result;
}

function any<Item>(random: Random, items: readonly Item[]): Item {
  return random.pick(items as readonly [Item, ...Item[]]);
}
