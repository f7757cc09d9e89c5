import { randomBytes } from 'node:crypto';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { BatchGetItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { ageOf, moment, type Moment } from '../time.ts';
import { putOnce, type DatastoreKeys } from './datastore-keys.ts';
import type { KeyStore } from './key-store.ts';
import { KEY_BYTES, subjectKeys, type SubjectKeys } from './sealing.ts';

/** For how long an instance trusts a subject's key: a forgotten one stays readable there as long. */
export const KNOWN_MS = 5000;
/** From this age on a key that is in use is asked for anew: who uses it once in so long never waits for it. */
const RENEWED_MS = KNOWN_MS / 2;
/** From this age on it comes along: of two at any distance one does, so that all in use end up in one call. */
const JOINS_MS = RENEWED_MS / 2;
/** Subjects of a datastore that an instance knows at most. */
const MOST_KNOWN = 10_000;
/** Of one BatchGetItem. */
const KEYS_A_CALL = 100;
const TRIES = 6;
/** Of asking for what has come too old while the rest was waited for. */
const ASKED = 3;

/** A subject: with its keys, or forgotten, which it stays. */
type Subject = { readonly keys: SubjectKeys } | { readonly keys: undefined };
const FORGOTTEN: Subject = { keys: undefined };

/** By their names; those that have no key, and never had one, are not among them. */
export type Subjects = ReadonlyMap<string, Subject>;

export const subjectItem = (datastore: string, name: string): string => `subject#${datastore}#${name}`;

interface Known {
  readonly subject: Subject;
  readonly at: Moment;
  /** Since it was asked for. */
  isUsed?: boolean;
}

export class SubjectKeyring {
  readonly #store: KeyStore;
  readonly #keys: DatastoreKeys;
  /** The one that was not used for longest comes first. */
  readonly #known = new Map<string, Known>();
  #isRenewing = false;
  /** What is asked for with the next call: whoever comes in the same turn shares it. */
  #asked: { readonly names: Set<string>; readonly found: Promise<ReadonlyMap<string, Known>> } | undefined;

  constructor(store: KeyStore, keys: DatastoreKeys) {
    this.#store = store;
    this.#keys = keys;
  }

  /** Where all of them are in memory; undefined where one has to be asked for. */
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
      // Also what was in memory, or came at once, may be too old by the time at which the last one is there.
      if (found.values().every(({ at }) => ageOf(at) < KNOWN_MS))
        return new Map([...found].map(([name, { subject }]) => [name, subject]));
    }
    throw new Error('the table of keys answers more slowly than a key may be old');
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

  /** As `known`, with a key made for each that has none. */
  async made(names: ReadonlySet<string>): Promise<Subjects> {
    const known = await this.known(names);
    const missing = [...names].filter((name) => !known.has(name));
    if (missing.length === 0) return known;
    const made = await Promise.all(missing.map((name) => this.#make(name)));
    const found = new Map([...known, ...made.filter((one) => one !== undefined)]);
    const others = missing.filter((name) => !found.has(name));
    // Whoever came first has made it, or has had it forgotten.
    return others.length === 0 ? found : new Map([...found, ...(await this.known(new Set(others)))]);
  }

  /** Undefined where there is one already. */
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
   * Asks anew, with one call, for those in use that will soon be too old, so that nobody waits, and for younger ones, which
   * would each have a call of their own. Where that fails, whoever needs one after its time is told.
   */
  #renew(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const due = [...this.#known].filter(([, { isUsed, at }]) => isUsed === true && ageOf(at) >= JOINS_MS);
    void this.#ask(due.slice(-KEYS_A_CALL).map(([name]) => name))
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
    // As old as the question is what comes of it.
    const at = moment();
    const calls = Array.from({ length: Math.ceil(names.length / KEYS_A_CALL) }, (_, call) =>
      this.#readSome(names.slice(call * KEYS_A_CALL, (call + 1) * KEYS_A_CALL)),
    );
    const found = new Map((await Promise.all(calls)).flat().map(([name, subject]) => [name, { subject, at }]));
    for (const [name, known] of found) this.#keep(name, known);
    this.#forgetOld();
    return found;
  }

  #keep(name: string, known: Known): void {
    this.#known.delete(name);
    this.#known.set(name, known);
  }

  /** Keys are in memory for no longer than they are used. */
  #forgetOld(): void {
    for (const [name, { at }] of this.#known) {
      // What comes behind was used later.
      if (this.#known.size <= MOST_KNOWN && ageOf(at) < KNOWN_MS) return;
      this.#known.delete(name);
    }
  }

  async #readSome(names: readonly string[]): Promise<[string, Subject][]> {
    const { client, table } = this.#store.table;
    const { datastore } = this.#keys;
    const found: [string, Subject][] = [];
    let keys: Record<string, AttributeValue>[] = names.map((name) => ({ pk: { S: subjectItem(datastore, name) } }));
    for (let tried = 1; keys.length > 0; tried += 1) {
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetItemCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
      );
      for (const item of Responses?.[table] ?? []) {
        const pk = item['pk']?.S ?? '';
        const name = pk.slice(subjectItem(datastore, '').length);
        const key = item['key']?.B;
        found.push([name, key ? { keys: subjectKeys(name, await this.#keys.unwrap(pk, key)) } : FORGOTTEN]);
      }
      keys = UnprocessedKeys?.[table]?.Keys ?? [];
      if (keys.length > 0 && tried === TRIES) throw new Error('the table of keys answers in part alone');
      if (keys.length > 0) await sleep(Math.random() * 20 * tried);
    }
    return found;
  }
}
