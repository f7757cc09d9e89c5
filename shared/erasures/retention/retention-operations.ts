import { parseCount, parseRowKey } from '../../address.ts';
import { LIMITS } from '../../cell.ts';
import type { HeldBy, Hold, RetentionOperations } from '../../contract/retention-operations.ts';
import { invalidField, missingField, SchemalessError } from '../../errors.ts';
import { parseSubject } from '../../subject.ts';
import { shownRetention } from '../../sql/hidden-cells.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import { overState } from '../../triggers/manage/state-away.ts';
import type { ErasureWork } from '../carry-out.ts';
import { holdsOf, listHolds, MOST_HOLDS, putHold, releaseHold, type Held } from '../holds.ts';
import { beginPurge, readPurge } from '../purge/purge-record.ts';
import { behindSeconds } from './behind.ts';
import { listRetained } from './retained-days.ts';
import { readPlaces } from './retention-place.ts';

/** What of a datastore is kept how long, what is held, and the space of what is gone, for those who ask. */
export function retentionOperations(
  { topologyTable, stateTable }: Pick<ErasureWork, 'topologyTable' | 'stateTable'>,
  { datastore, caller }: { readonly datastore: string; readonly caller: string },
): RetentionOperations {
  return {
    retention: () =>
      overState(async () => {
        const topology = await readDatastore(topologyTable, datastore);
        const rules = topology?.retention ?? [];
        const places = [...(await readPlaces(stateTable, datastore, topology?.shards ?? 0)).values()];
        const open = places.flatMap((place) => place.open);
        return {
          rules: rules.map(shownRetention),
          columns: await listRetained(stateTable, datastore),
          behind_seconds: rules.length === 0 ? 0 : (behindSeconds(rules, places) ?? null),
          open: open.length,
          waits_for: open.find(({ waits_for }) => waits_for !== null)?.waits_for ?? null,
          purge: (await readPurge(stateTable, datastore))?.purge ?? null,
        };
      }),
    async putHold({ reason, ...wanted }) {
      const { hold, held } = parseHold(wanted);
      const put = await overState(() =>
        putHold(stateTable, datastore, held, {
          hold,
          row_key: held.row_key ?? null,
          subject: held.subject ?? null,
          reason,
          requested_by: caller,
          requested_at: new Date().toISOString(),
        }),
      );
      if (put) return put;
      throw invalidField('hold', `at most ${MOST_HOLDS} holds of one row or subject`, `one more, ${hold}`);
    },
    async releaseHold(wanted) {
      const { hold, held } = parseHold(wanted);
      const released: Hold | undefined = await overState(() =>
        releaseHold(stateTable, datastore, { ...held, hold }, async () => {
          const topology = await readDatastore(topologyTable, datastore);
          return topology?.retention !== undefined;
        }),
      );
      if (released) return released;
      throw new SchemalessError('unknown_hold', `${datastore} has no hold ${hold} of ${held.row_key ?? held.subject}`, {
        field: 'hold',
      });
    },
    async holds({ row_key, subject, limit = LIMITS.defaultLimit, after } = {}) {
      const most = parseCount(limit, 'limit', 1, LIMITS.listCells);
      if (after !== undefined && !PLACE.test(after)) throw invalidField('after', 'what `next` said', after);
      if (row_key === undefined && subject === undefined)
        return overState(() => listHolds(stateTable, datastore, after, most));
      const held = parseHeld({ row_key, subject });
      return { holds: await overState(() => holdsOf(stateTable, datastore, held)), next: null };
    },
    purge: () => overState(() => beginPurge(stateTable, datastore, caller)),
  };
}

const PLACE = /^(row|subject)#.{1,1024}$/su;
const HOLD = /^[A-Za-z0-9._:/-]{1,128}$/u;

/** Throws `invalid_field`, `missing_field`. */
function parseHold({ hold, ...of }: HeldBy): { readonly hold: string; readonly held: Held } {
  const wanted = 'a name of 1 to 128 of A-Z, a-z, 0-9, `.`, `_`, `:`, `/` and `-`';
  if (hold === undefined) throw missingField('hold', wanted);
  if (typeof hold !== 'string' || !HOLD.test(hold)) throw invalidField('hold', wanted, hold);
  return { hold, held: parseHeld(of) };
}

function parseHeld({ row_key, subject }: Omit<HeldBy, 'hold'>): Held {
  if (row_key !== undefined && subject !== undefined)
    throw invalidField('subject', 'either `row_key` or `subject`', 'both');
  if (row_key !== undefined) return { row_key: parseRowKey(row_key) };
  if (subject === undefined) throw missingField('row_key', 'the row that is held, or a `subject`');
  return { subject: parseSubject(subject, 'subject') };
}
