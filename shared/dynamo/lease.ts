import { readLease, writeLease, type LeaseItem } from './lease-item.ts';
import type { DynamoTable } from './table.ts';

/** The right to do something alone for now. */
export interface Lease {
  readonly name: string;
  /** Goes up with each holder and fences its writes elsewhere, so that a paused holder cannot harm. */
  readonly token: number;
}

/** What is known of a lease that another holds. */
interface HeldLease {
  readonly token: number;
  /** Changes with every renewal. */
  readonly beat: number;
  /** When this beat was first seen, by the local clock. */
  readonly seenAt: number;
}

/** Rights that one of many has at a time, for as long as it says that it is alive. */
export interface Leases {
  /**
   * Takes a lease that is free or has expired, or that its holder gave up. Asks the holder to hand over otherwise.
   * Returns undefined while another holds it: try again.
   */
  take(name: string): Promise<Lease | undefined>;
  /**
   * Says that the holder is alive. Returns `held`; `wanted` when a successor asks for it, so that it should be released
   * soon; `lost` when it was taken.
   */
  renew(lease: Lease): Promise<'held' | 'wanted' | 'lost'>;
  /** Gives the lease up at once, so that a successor need not wait for it to expire. */
  release(lease: Lease): Promise<void>;
}

/**
 * Leases in DynamoDB, by conditional writes. Clocks of different machines are never compared: a lease has expired when
 * its beat has not changed for its whole duration of local time. `owner`: unique to this run. `durationMs`: how long a
 * holder may be silent.
 */
export function leases(
  table: DynamoTable,
  owner: string,
  durationMs: number,
  now: () => number = () => performance.now(),
): Leases {
  return new LeasesOfTable(table, owner, durationMs, now);
}

class LeasesOfTable implements Leases {
  readonly #table: DynamoTable;
  readonly #owner: string;
  readonly #durationMs: number;
  readonly #now: () => number;
  readonly #seen = new Map<string, HeldLease>();

  constructor(table: DynamoTable, owner: string, durationMs: number, now: () => number) {
    this.#table = table;
    this.#owner = owner;
    this.#durationMs = durationMs;
    this.#now = now;
  }

  async take(name: string): Promise<Lease | undefined> {
    const item = await readLease(this.#table, name);
    if (!item) return this.#takeFirst(name);
    const isExpired = this.#isExpired(name, item);
    if (item.owner === '' || isExpired) return this.#takeOver(name, item);
    if (item.heir !== this.#owner) {
      await writeLease(this.#table, name, {
        set: 'SET #heir = :me',
        condition: '#token = :token AND #owner <> :me',
        values: { ':me': this.#owner, ':token': item.token },
      });
    }
    return undefined;
  }

  async renew(lease: Lease): Promise<'held' | 'wanted' | 'lost'> {
    const held = await writeLease(this.#table, lease.name, {
      set: 'SET #beat = #beat + :one',
      condition: '#owner = :me AND #token = :token',
      values: { ':me': this.#owner, ':token': lease.token, ':one': 1 },
    });
    if (!held) return 'lost';
    return held.heir !== '' && held.heir !== this.#owner ? 'wanted' : 'held';
  }

  async release(lease: Lease): Promise<void> {
    await writeLease(this.#table, lease.name, {
      set: 'SET #owner = :nobody, #beat = #beat + :one',
      condition: '#owner = :me AND #token = :token',
      values: { ':nobody': '', ':one': 1, ':me': this.#owner, ':token': lease.token },
    });
  }

  /** Remembers when this beat was first seen. */
  #isExpired(name: string, { token, beat }: LeaseItem): boolean {
    const known = this.#seen.get(name);
    if (known?.token === token && known.beat === beat) return this.#now() - known.seenAt >= this.#durationMs;
    this.#seen.set(name, { token, beat, seenAt: this.#now() });
    return false;
  }

  async #takeFirst(name: string): Promise<Lease | undefined> {
    const first = await writeLease(this.#table, name, {
      set: 'SET #owner = :me, #token = :one, #beat = :zero',
      condition: 'attribute_not_exists(#owner) AND attribute_not_exists(#token)',
      values: { ':me': this.#owner, ':one': 1, ':zero': 0 },
    });
    return first ? { name, token: 1 } : undefined;
  }

  async #takeOver(name: string, item: LeaseItem): Promise<Lease | undefined> {
    const token = item.token + 1;
    const taken = await writeLease(this.#table, name, {
      set: 'SET #owner = :me, #token = :next, #beat = :zero REMOVE #heir',
      condition: '#token = :token AND #owner = :holder AND #beat = :beat',
      values: {
        ':me': this.#owner,
        ':next': token,
        ':zero': 0,
        ':token': item.token,
        ':holder': item.owner,
        ':beat': item.beat,
      },
    });
    return taken ? { name, token } : undefined;
  }
}
