import { scanState } from '../dynamo/table.ts';
import { requireServed } from '../access/groups.ts';
import { LIMITS } from '../cell.ts';
import type { ForgottenSubject, SubjectOperations } from '../api/subjects.ts';
import { readState, updateState, type StateItem } from '../dynamo/state-table.ts';
import { wrongField } from '../errors.ts';
import type { TopologySource } from '../topology/topology.ts';
import { datastoreKeyring } from './datastore-keys.ts';
import { overKeys, type KeyStore } from './key-store.ts';
import { KNOWN_MS, subjectItem } from './subject-keyring.ts';

export interface SubjectManagement {
  /** Returns operations whose records name `caller`. Throws SchemalessError `unknown_datastore`. */
  subjects(datastore: string, caller: string): Promise<SubjectOperations>;
}

interface SubjectWork {
  readonly topology: TopologySource;
  readonly keys: KeyStore;
  /** Days for which the table of keys can be restored to a point in time; 0: it cannot. */
  readonly keyDays: number;
}

const DAY_MS = 86_400_000;
/** A write that timed out after three seconds may still take effect a little later. */
const CHANGED_WITHIN_MS = 5000;

const NOT_REACHED = [
  'keyed hashes of its values that indexes have, in cells, indexes, backups and exports, as long as these live',
  'the field that names it, and all else of its cells that is not sealed',
  'values that readers copied elsewhere before it was forgotten',
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
          const start = after === undefined ? undefined : parsePosition(after);
          return overKeys(() => forgottenPage(keys, datastore, start, limit));
        },
      };
    },
  };
}

/** A record before it is known whether there was a key. */
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

/** A key is created once and deleted once: the item cannot change more often in between. */
const FORGET_TRIES = 3;

/** Replaces the key by the record. Returns the first record written there. */
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
  throw new Error('the item of a subject to forget keeps changing');
}

/** The most scans for a page of records: keys of subjects that are not forgotten lie in between. */
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

/** Returns the end of a page, a key of the table, in a form for a query string. */
const placeOf = (pk: string): string => Buffer.from(pk).toString('base64url');

/** Parses the key of an item, of any datastore, since a scan reads all of the table. Throws `invalid_field`. */
function parsePosition(after: string): string {
  const pk = Buffer.from(after, 'base64url').toString();
  if (placeOf(pk) === after && /^(?:datastore|subject)#./u.test(pk)) return pk;
  throw wrongField('after', '`next` of the page before', 'something else');
}

function toRecord(item: StateItem | undefined): ForgottenSubject | undefined {
  const text = item?.['forgotten']?.S;
  return text === undefined ? undefined : (JSON.parse(text) as ForgottenSubject);
}
