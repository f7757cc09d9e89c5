import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import type { HostileRequest } from './request.ts';

const REQUESTS = 200;
/** Every so many are near the limit of a body. */
const LARGE_EVERY = 10;

/**
 * Requests as anybody sends them, small and large: heaps that fill for the first time are then no part of what hostile
 * ones cost.
 */
export function ordinary(seed: string, shards: number): readonly HostileRequest[] {
  return [...puts(seed), ...reads(shards), ...reads(shards)];
}

/** Full pages of the logs. */
function reads(shards: number): readonly HostileRequest[] {
  return Array.from({ length: shards }, (_, shard) => ({
    what: 'an ordinary log',
    method: 'GET',
    target: `/v1/trips/shards/${shard}/cells?after=0&limit=1000`,
    wants: 'answered',
  }));
}

function puts(seed: string): readonly HostileRequest[] {
  return Array.from({ length: REQUESTS }, (_, place) => {
    const [length, items] = place % LARGE_EVERY === 0 ? [1_000_000, 1000] : [2000, 20];
    const body = { text: 'x'.repeat(length), list: Array.from({ length: items }, (_, number) => ({ number })) };
    return {
      what: 'an ordinary cell',
      method: 'PUT',
      target: `/v1/trips/cells/${randomRowKey(new Random(seed, 'ordinary', place))}/BASE/1`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
      wants: 'stored',
    };
  });
}
