import { randomBytes } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { KEYS_A_READ, readStates } from '../dynamo/state-table.ts';
import { slicesOf } from '../slices-of.ts';
import { ageOf, moment, type Moment } from '../time.ts';
import { putOnce, type DatastoreKeys } from './datastore-keys.ts';
import type { KeyStore } from './key-store.ts';
import { KEY_BYTES, subjectKeys, type SubjectKeys } from './sealing.ts';

/** How long an instance trusts a subject's key: a forgotten subject stays readable there as long. */
export const KNOWN_MS = 5000;
/** The age from which a key in use is renewed: a caller that uses it at this interval never waits. */
const RENEWED_MS = KNOWN_MS / 2;
/** The age from which a key joins another's renewal. Of any two, one does, so that one call renews all in use. */
const JOINS_MS = RENEWED_MS / 2;
/** The most subjects of a datastore that an instance caches. */
const MOST_KNOWN = 10_000;
/** The most tries, since some keys may expire while the rest is read. */
const ASKED = 3;

/** A subject with its keys, or forgotten for good. */
type Subject = { readonly keys: SubjectKeys } | { readonly keys: undefined };
const FORGOTTEN: Subject = { keys: undefined };

/** Subjects by name, without those that never had a key. */
export type Subjects = ReadonlyMap<string, Subject>;

export const subjectItem = (datastore: string, name: string): string => `subject#${datastore}#${name}`;

interface Known {
  readonly subject: Subject;
  readonly at: Moment;
  /** Whether it was used since it was read. */
  isUsed?: boolean;
}

export class SubjectKeyring {
  readonly #store: KeyStore;
  readonly #keys: DatastoreKeys;
  /** The least recently used comes first. */
  readonly #known = new Map<string, Known>();
  #isRenewing = false;
  /** The names of the next call, which all callers in one turn of the event loop share. */
  #asked: { readonly names: Set<string>; readonly found: Promise<ReadonlyMap<string, Known>> } | undefined;

  constructor(store: KeyStore, keys: DatastoreKeys) {
    this.#store = store;
    this.#keys = keys;
  }

  /** Returns the subjects if all are in memory; undefined otherwise. */
  recalled(names: ReadonlySet<string>): Subjects | undefined {
    const found = new Map<string, Subject>();
    for (const name of names) {
      const known = this.#recall(name);
      if (!known) return undefined;
      found.set(name, known.subject);
    }
    return found;
  }

  async known(names: ReadonlySet<string>): Promise<Subjects> {
    for (let asked = 0; asked < ASKED; asked += 1) {
      const found = await this.#find(names);
      // Those from memory may be too old by the time the last one arrives.
      if (found.values().every(({ at }) => ageOf(at) < KNOWN_MS))
        return new Map([...found].map(([name, { subject }]) => [name, subject]));
    }
    throw new Error('the table of keys is too slow: keys expired before the last one arrived');
  }

  async #find(names: ReadonlySet<string>): Promise<ReadonlyMap<string, Known>> {
    const found = new Map<string, Known>();
    const missing: string[] = [];
    for (const name of names) {
      const known = this.#recall(name);
      if (known) found.set(name, known);
      else missing.push(name);
    }
    if (missing.length === 0) return found;
    const asked = await this.#ask(missing);
    for (const name of missing) {
      const known = asked.get(name);
      if (known) found.set(name, known);
    }
    return found;
  }

  /** Finds subjects like `known`, and creates a key for each that has none. */
  async made(names: ReadonlySet<string>): Promise<Subjects> {
    const known = await this.known(names);
    const missing = [...names].filter((name) => !known.has(name));
    if (missing.length === 0) return known;
    const made = await Promise.all(missing.map((name) => this.#make(name)));
    const found = new Map([...known, ...made.filter((one) => one !== undefined)]);
    const others = missing.filter((name) => !found.has(name));
    // A concurrent caller has created the key, or forgotten the subject.
    return others.length === 0 ? found : new Map([...found, ...(await this.known(new Set(others)))]);
  }

  /** Creates a key; returns undefined if the subject's item exists already. */
  async #make(name: string): Promise<[string, Subject] | undefined> {
    const at = moment();
    const pk = subjectItem(this.#keys.datastore, name);
    const key = randomBytes(KEY_BYTES);
    if (!(await putOnce(this.#store, pk, await this.#keys.wrap(pk, key)))) return undefined;
    const subject = { keys: subjectKeys(name, key) };
    this.#keep(name, { subject, at });
    return [name, subject];
  }

  #recall(name: string): Known | undefined {
    const known = this.#known.get(name);
    if (!known) return undefined;
    this.#known.delete(name);
    if (ageOf(known.at) >= KNOWN_MS) return undefined;
    this.#known.set(name, known);
    known.isUsed = true;
    if (ageOf(known.at) >= RENEWED_MS) this.#renew();
    return known;
  }

  /**
   * Renews the keys in use that will soon expire, so that no caller waits, with one call. Includes younger ones, which
   * would need a call each. After a failure, the next caller that needs an expired key gets the error.
   */
  #renew(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const due = [...this.#known].filter(([, { isUsed, at }]) => isUsed === true && ageOf(at) >= JOINS_MS);
    void this.#ask(due.slice(-KEYS_A_READ).map(([name]) => name))
      .catch(() => undefined)
      .finally(() => (this.#isRenewing = false));
  }

  #ask(names: readonly string[]): Promise<ReadonlyMap<string, Known>> {
    if (!this.#asked) {
      const all = new Set<string>();
      const found = endOfTurn().then(() => {
        this.#asked = undefined;
        return this.#read([...all]);
      });
      this.#asked = { names: all, found };
    }
    for (const name of names) this.#asked.names.add(name);
    return this.#asked.found;
  }

  async #read(names: readonly string[]): Promise<ReadonlyMap<string, Known>> {
    // The age of the result counts from the request.
    const at = moment();
    const calls = slicesOf(names, KEYS_A_READ).map((some) => this.#readSome(some));
    const found = new Map((await Promise.all(calls)).flat().map(([name, subject]) => [name, { subject, at }]));
    for (const [name, known] of found) this.#keep(name, known);
    this.#forgetOld();
    return found;
  }

  #keep(name: string, known: Known): void {
    this.#known.delete(name);
    this.#known.set(name, known);
  }

  /** Drops expired keys, and those beyond `MOST_KNOWN`. */
  #forgetOld(): void {
    for (const [name, { at }] of this.#known) {
      // The entries behind this one were used later.
      if (this.#known.size <= MOST_KNOWN && ageOf(at) < KNOWN_MS) return;
      this.#known.delete(name);
    }
  }

  async #readSome(names: readonly string[]): Promise<[string, Subject][]> {
    const prefix = subjectItem(this.#keys.datastore, '');
    const items = await readStates(
      this.#store.table,
      names.map((name) => `${prefix}${name}`),
    );
    const found: [string, Subject][] = [];
    for (const [pk, { key }] of items) {
      const name = pk.slice(prefix.length);
      found.push([name, key?.B ? { keys: subjectKeys(name, await this.#keys.unwrap(pk, key.B)) } : FORGOTTEN]);
    }
    return found;
  }
}
