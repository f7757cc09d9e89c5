import { requireServed } from '../access/groups.ts';
import { LIMITS } from '../cell.ts';
import type { ForgottenSubject, SubjectOperations } from '../api/subjects.ts';
import { readState, scanState, updateState, type StateItem } from '../dynamo/state-table.ts';
import { wrongField } from '../errors.ts';
import type { TopologySource } from '../topology/topology.ts';
import { datastoreKeyring } from './datastore-keys.ts';
import { overKeys, type KeyStore } from './key-store.ts';
import { KNOWN_MS, subjectItem } from './subject-keyring.ts';

export interface SubjectManagement {
  /** `caller`: who asks, for the records. Throws SchemalessError `unknown_datastore`. */
  subjects(datastore: string, caller: string): Promise<SubjectOperations>;
}

interface SubjectWork {
  readonly topology: TopologySource;
  readonly keys: KeyStore;
  /** How long the table of keys can be set back; 0: it cannot. */
  readonly keyDays: number;
}

const DAY_MS = 86_400_000;
/** A change of an item that was given up after three seconds may have been done a little later. */
const CHANGED_WITHIN_MS = 5000;

const NOT_REACHED = [
  'keyed hashes of its values that indexes have, in cells, indexes, backups and exports, as long as these live',
  'the field that names it, and all else of its cells that is not sealed',
  'what was read, and kept elsewhere, before it was forgotten',
] as const;

export function subjectManagement({ topology, keys, keyDays }: SubjectWork): SubjectManagement {
  const keyring = datastoreKeyring(keys);
  return {
    async subjects(datastore, caller) {
      await requireServed(topology, datastore);
      return {
        async forgetSubject({ subject = '', subject_name: named, reason }) {
          const ofDatastore = await overKeys(() => keyring.made(datastore));
          const subject_name = named ?? ofDatastore.nameOf(subject);
          const record = { subject_name, reason, requested_by: caller, ...timesOf(keyDays) };
          return overKeys(() => forget(keys, datastore, record));
        },
        async listForgotten({ limit = LIMITS.defaultLimit, after } = {}) {
          const start = after === undefined ? undefined : parsePlace(after);
          return overKeys(() => forgottenPage(keys, datastore, start, limit));
        },
      };
    },
  };
}

/** Until it is known whether there was a key. */
type Prepared = Omit<ForgottenSubject, 'had_key'>;

function timesOf(keyDays: number) {
  const now = Date.now();
  const at = (ms: number): string => new Date(now + ms).toISOString();
  return {
    forgotten_at: at(0),
    unreadable_from: at(CHANGED_WITHIN_MS + KNOWN_MS),
    key_in_backups_until: keyDays > 0 ? at(CHANGED_WITHIN_MS + keyDays * DAY_MS) : null,
    not_reached: NOT_REACHED,
  };
}

/** A key is made once, and goes once: more often than that nothing changes under who forgets. */
const FORGET_TRIES = 3;

/** Puts the record in the place of the key. Returns the first one that was put there. */
async function forget({ table }: KeyStore, datastore: string, prepared: Prepared): Promise<ForgottenSubject> {
  const key = subjectItem(datastore, prepared.subject_name);
  for (let tried = 1; tried <= FORGET_TRIES; tried += 1) {
    const before = await readState(table, key);
    const done = toRecord(before);
    if (done) return done;
    const had_key = before?.['key'] !== undefined;
    const written = await updateState(table, {
      key,
      update: 'SET #forgotten = :record REMOVE #key',
      condition: `attribute_not_exists(#forgotten) AND attribute_${had_key ? '' : 'not_'}exists(#key)`,
      values: { ':record': { S: JSON.stringify({ ...prepared, had_key }) } },
    });
    const record = toRecord(written);
    if (record) return record;
  }
  throw new Error('a subject that is to be forgotten changes all the time');
}

/** Of a page of records the table is read so far at most: keys of subjects that are not forgotten lie between. */
const SCANS = 8;

async function forgottenPage(
  { table }: KeyStore,
  datastore: string,
  after: string | undefined,
  limit: number,
): Promise<{ readonly subjects: readonly ForgottenSubject[]; readonly next: string | null }> {
  const subjects: ForgottenSubject[] = [];
  let scans = 0;
  for await (const { items, end } of scanState(table, subjectItem(datastore, ''), { after, having: 'forgotten' })) {
    for (const item of items) {
      const record = toRecord(item);
      if (!record) continue;
      if (subjects.length === limit)
        return { subjects, next: placeOf(subjectItem(datastore, subjects.at(-1)?.subject_name ?? '')) };
      subjects.push(record);
    }
    scans += 1;
    if (end !== undefined && scans === SCANS) return { subjects, next: placeOf(end) };
  }
  return { subjects, next: null };
}

/** Where a page ended: a key of the table, in a form that goes into a query string. */
const placeOf = (pk: string): string => Buffer.from(pk).toString('base64url');

/** The key of an item, of whatever datastore: the table is read from end to end. Throws `invalid_field`. */
function parsePlace(after: string): string {
  const pk = Buffer.from(after, 'base64url').toString();
  if (placeOf(pk) === after && /^(?:datastore|subject)#./u.test(pk)) return pk;
  throw wrongField('after', '`next` of the page before', 'something else');
}

function toRecord(item: StateItem | undefined): ForgottenSubject | undefined {
  const text = item?.['forgotten']?.S;
  return text === undefined ? undefined : (JSON.parse(text) as ForgottenSubject);
}
