import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { BODIES } from './hostile-bodies.ts';
import { COLUMN_NAMES, NO_COUNTS, NO_PARAMETERS, NO_ROW_KEYS } from './hostile-names.ts';
import { mutated, nastyJson } from './nasty-json.ts';
import type { HostileRequest } from './send.ts';
import { words } from './words.ts';

const V1 = '/v1/trips';
/** Bodies of the corpus that are small enough to be sent many times. */
const SMALL = BODIES.filter(({ bytes }) => bytes.length < 70_000);
const SEGMENTS = [
  ...words(
    'cells rows shards indexes triggers buffer log batch-put batch-restore BASE versions conflicts parked 0 1',
    '.. %2e%2e %00 %',
  ),
  '',
  ...words('__proto__ {x} %C0%AF'),
];
const METHODS = words('GET PUT POST DELETE HEAD PATCH OPTIONS');
const FIELDS = words(
  'driver_uuid city created_at fare.total riders is_completed fare __proto__ limit order fields cursor column',
  'explain read',
);
const OPERATORS = ['', '', '[ne]', '[lt]', '[lte]', '[gt]', '[gte]', '[in]', '[eq]', '[', '[]'] as const;
const ACTIONS = ['pause', 'resume', 'rewind', 'parked/retry', 'parked/discard'] as const;

/** The nth request: a route drawn at random, most of it right, and something in it that is not. */
export function fuzzed(seed: string, position: number): HostileRequest {
  const random = new Random(seed, 'fuzz', position);
  const kind = any(random, KINDS);
  return { what: `fuzz ${position}`, ...kind(random) };
}

type Draft = Pick<HostileRequest, 'method' | 'target' | 'headers' | 'body'>;

function putCell(random: Random): Draft {
  const row = random.chance(0.05) ? any(random, NO_ROW_KEYS) : randomRowKey(random);
  const column = random.chance(0.1)
    ? encodeURIComponent(any(random, COLUMN_NAMES))
    : random.pick(['BASE', 'NOTES', 'FARE%20ADJUSTMENT', 'a.b_c-d']);
  const refKey = random.chance(0.05) ? any(random, NO_COUNTS) : String(random.integer(0, 1000));
  return {
    method: 'PUT',
    target: `${V1}/cells/${row}/${column}/${refKey}${random.chance(0.03) ? `?${any(random, NO_PARAMETERS)}` : ''}`,
    headers: contentType(random),
    body: body(random),
  };
}

function batchPut(random: Random): Draft {
  const isRestored = random.chance(0.2);
  const cells = Array.from({ length: random.integer(1, 8) }, () => {
    const name = random.chance(0.6) ? any(random, COLUMN_NAMES) : 'BASE';
    // Of batch-restore alone; what it takes reads back as any other.
    const time = isRestored ? `,"created_at":${random.chance(0.8) ? '"2020-01-01T00:00:00Z"' : nastyJson(random)}` : '';
    return `{"row_key":"${randomRowKey(random)}","column_name":${JSON.stringify(name)},"ref_key":${random.integer(0, 1000)},"body":${nastyJson(random)}${time}}`;
  });
  return {
    method: 'POST',
    target: `${V1}/batch-${isRestored ? 'restore' : 'put'}`,
    headers: contentType(random),
    body: sometimesMutated(random, `{"cells":[${cells.join(',')}]}`),
  };
}

function read(random: Random): Draft {
  const row = random.chance(0.2) ? any(random, NO_ROW_KEYS) : randomRowKey(random);
  const column = encodeURIComponent(any(random, COLUMN_NAMES));
  const count = random.chance(0.3) ? any(random, NO_COUNTS) : String(random.integer(0, 9));
  const target = random.pick([
    `cells/${row}/BASE/${count}`,
    `cells/${row}/${column}`,
    `cells/${row}/BASE/versions?limit=${count}`,
    `rows/${row}?column=${column}`,
    `shards/${count}/cells?after=${count}`,
    'shards',
    'buffer',
    `buffer/conflicts?after=${column}`,
  ]);
  return {
    method: 'GET',
    target: `${V1}/${target}${random.chance(0.2) ? `${target.includes('?') ? '&' : '?'}${any(random, NO_PARAMETERS)}` : ''}`,
  };
}

function batchRead(random: Random): Draft {
  const keys = Array.from({ length: random.integer(1, 5) }, () => ({
    row_key: randomRowKey(random),
    column_name: any(random, COLUMN_NAMES),
    ...(random.chance(0.5) && { ref_key: random.integer(0, 9) }),
  }));
  const locations = Array.from({ length: random.integer(1, 5) }, () => ({
    shard: random.integer(-1, 20),
    after: random.integer(-1, 9),
  }));
  const [target, content] = random.chance(0.5)
    ? ['batch-get', { keys }]
    : ['log', { locations, limit: random.integer(0, 20) }];
  return {
    method: 'POST',
    target: `${V1}/${target}`,
    headers: contentType(random),
    body: sometimesMutated(random, JSON.stringify(content)),
  };
}

function query(random: Random): Draft {
  const conditions = Array.from(
    { length: random.integer(0, 4) },
    () =>
      `${random.pick(FIELDS)}${random.pick(OPERATORS)}=${random.chance(0.5) ? any(random, NO_COUNTS) : encodeURIComponent(any(random, COLUMN_NAMES))}`,
  );
  return {
    method: 'GET',
    target: `${V1}/indexes/driver_index?${[`driver_uuid=${randomRowKey(random)}`, ...conditions].join('&')}`,
  };
}

function trigger(random: Random): Draft {
  if (random.chance(0.3))
    return {
      method: 'GET',
      target: `${V1}/triggers/watch_notes${random.pick(['', '/parked'])}?limit=${any(random, NO_COUNTS)}`,
    };
  return {
    method: 'POST',
    target: `${V1}/triggers/watch_notes/${random.pick(ACTIONS)}`,
    headers: contentType(random),
    body: sometimesMutated(random, `{"${random.pick(['to', 'cells', 'reason', 'x'])}":${nastyJson(random)}}`),
  };
}

function anywhere(random: Random): Draft {
  const path = Array.from({ length: random.integer(1, 7) }, () => any(random, SEGMENTS)).join('/');
  return { method: random.pick(METHODS), target: `/v1/${random.chance(0.7) ? 'trips/' : ''}${path}` };
}

/** How often each is drawn. */
const TIMES = [
  [putCell, 4],
  [batchPut, 3],
  [read, 2],
  [batchRead, 1],
  [query, 1],
  [trigger, 1],
  [anywhere, 1],
] as const;
const KINDS = TIMES.flatMap(([kind, times]) => Array.from({ length: times }, () => kind));

function body(random: Random): Buffer {
  if (random.chance(0.25)) return any(random, SMALL).bytes;
  // As the index would have it, with something else in the place of a value.
  const text = random.chance(0.3)
    ? `{"driver_uuid":"${randomRowKey(random)}","city":${nastyJson(random)},"fare":{"total":${nastyJson(random)}},"riders":${nastyJson(random)},"created_at":${nastyJson(random)}}`
    : nastyJson(random);
  return sometimesMutated(random, text);
}

function sometimesMutated(random: Random, text: string): Buffer {
  return random.chance(0.4) ? mutated(random, Buffer.from(text)) : Buffer.from(text);
}

function contentType(random: Random): Record<string, string> {
  return random.chance(0.9)
    ? { 'content-type': 'application/json' }
    : {
        'content-type': random.pick(['text/plain', 'application/octet-stream', 'application/json;charset=latin1', 'x']),
      };
}

function any<Item>(random: Random, items: readonly Item[]): Item {
  return random.pick(items as readonly [Item, ...Item[]]);
}
