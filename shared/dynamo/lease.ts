import { readState, updateState, type StateItem } from './state-table.ts';
import type { DynamoTable } from './table.ts';

/** A temporary exclusive right. */
export interface Lease {
  readonly name: string;
  /** Rises with each lease holder and fences its writes elsewhere, so that a paused process cannot harm. */
  readonly token: number;
}

/** Exclusive rights that last while their owners renew them. */
export interface Leases {
  /**
   * Takes a lease that is free or has expired, or that its holder released. Otherwise asks its holder to hand over, and
   * returns undefined: try again.
   */
  take(name: string): Promise<Lease | undefined>;
  /**
   * Renews a lease. Returns `held`; `wanted` if a successor asks for it, so that it should be released soon; `lost` if
   * it was taken.
   */
  renew(lease: Lease): Promise<'held' | 'wanted' | 'lost'>;
  /** Gives the lease up at once, so that a successor need not wait for it to expire. */
  release(lease: Lease): Promise<void>;
}

/**
 * Opens leases in DynamoDB, by conditional writes. Clocks of different machines are never compared: a lease has expired
 * when its beat has not changed for its whole duration of local time. `owner`: unique to this run. `durationMs`: how
 * long a lease holder may be silent.
 */
export function leases(
  table: DynamoTable,
  owner: string,
  durationMs: number,
  now: () => number = () => performance.now(),
): Leases {
  /** When the beat of a lease that another holds was first seen, by the local clock. */
  const seen = new Map<string, { readonly token: number; readonly beat: number; readonly at: number }>();

  /** Remembers when this beat was first seen. */
  function isExpired(name: string, { token, beat }: HeldLease): boolean {
    const known = seen.get(name);
    if (known?.token === token && known.beat === beat) return now() - known.at >= durationMs;
    seen.set(name, { token, beat, at: now() });
    return false;
  }

  async function takeFirst(name: string): Promise<Lease | undefined> {
    const set = 'SET #owner = :me, #token = :one, #beat = :zero';
    const isFirst = 'attribute_not_exists(#owner) AND attribute_not_exists(#token)';
    const first = await write(table, name, set, isFirst, { ':me': owner, ':one': 1, ':zero': 0 });
    return first && { name, token: 1 };
  }

  async function takeOver(name: string, held: HeldLease): Promise<Lease | undefined> {
    const token = held.token + 1;
    const set = 'SET #owner = :me, #token = :next, #beat = :zero REMOVE #heir';
    const isAsSeen = '#token = :token AND #owner = :holder AND #beat = :beat';
    const seenValues = { ':token': held.token, ':holder': held.owner, ':beat': held.beat };
    const taken = await write(table, name, set, isAsSeen, { ':me': owner, ':next': token, ':zero': 0, ...seenValues });
    return taken && { name, token };
  }

  return {
    async take(name) {
      const item = await readState(table, keyOf(name));
      if (!item) return takeFirst(name);
      const held = toHeld(item);
      const isOver = isExpired(name, held);
      if (held.owner === '' || isOver) return takeOver(name, held);
      if (held.heir !== owner) {
        const isAnothers = '#token = :token AND #owner <> :me';
        await write(table, name, 'SET #heir = :me', isAnothers, { ':me': owner, ':token': held.token });
      }
      return undefined;
    },
    async renew({ name, token }) {
      const set = 'SET #beat = #beat + :one';
      const held = await write(table, name, set, IS_MINE, { ':me': owner, ':token': token, ':one': 1 });
      if (!held) return 'lost';
      return held.heir !== '' && held.heir !== owner ? 'wanted' : 'held';
    },
    async release({ name, token }) {
      const set = 'SET #owner = :nobody, #beat = #beat + :one';
      await write(table, name, set, IS_MINE, { ':nobody': '', ':one': 1, ':me': owner, ':token': token });
    },
  };
}

const IS_MINE = '#owner = :me AND #token = :token';

const keyOf = (name: string): string => `lease#${name}`;

/** A lease as its item has it; empty values for no owner or heir. */
interface HeldLease {
  readonly owner: string;
  readonly token: number;
  readonly beat: number;
  readonly heir: string;
}

function toHeld({ owner, token, beat, heir }: StateItem): HeldLease {
  return { owner: owner?.S ?? '', token: Number(token?.N ?? 0), beat: Number(beat?.N ?? 0), heir: heir?.S ?? '' };
}

/** Writes the item if it is still as it was seen, and gives what it is now; undefined if it was not. */
async function write(
  table: DynamoTable,
  name: string,
  update: string,
  condition: string,
  bound: Readonly<Record<string, number | string>>,
): Promise<HeldLease | undefined> {
  const values = Object.fromEntries(
    Object.entries(bound).map(([key, value]) => [key, typeof value === 'number' ? { N: String(value) } : { S: value }]),
  );
  const item = await updateState(table, { key: keyOf(name), update, condition, values });
  return item && toHeld(item);
}
