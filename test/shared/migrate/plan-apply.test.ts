import { describe, expect, it } from 'vitest';
import type {
  DatastoreDefinition,
  IndexDefinition,
  TriggerDefinition,
} from '../../../shared/definitions/definitions.ts';
import { planApply, type CurrentDatastore } from '../../../shared/migrate/plan-apply.ts';
import { triggerNamed } from '../../support/trigger-named.ts';
import { indexOn } from '../../support/index-on.ts';

const INDEX = indexOn('by_buyer', { buyer: 'UUID', total: 'number' });
const TRIGGER = triggerNamed('send');
const NONE: CurrentDatastore = { shards: undefined, isRetired: false, indexes: [], triggers: [], deployed: undefined };
const THERE: CurrentDatastore = { ...NONE, shards: 4, indexes: [INDEX], triggers: [TRIGGER] };

const sealedIn = (column: string, fields: readonly string[]) => ({ column, subject: 'buyer', fields });

function plan(desired: Partial<DatastoreDefinition>, current: CurrentDatastore, canSeal = true) {
  const definition = { name: 'shop', shards: 4, indexes: [], triggers: [], ...desired };
  const { changes, fixed } = planApply({ datastores: [definition] }, () => current, canSeal);
  return {
    changes: changes.map(({ name, change }) => `${name} ${change}`),
    fixed: fixed.map(({ name, field, wanted, got }) => `${name} ${field}: ${wanted}, ${got}`),
  };
}

describe('a plan', () => {
  it('makes what is not there, and leaves what is', () => {
    const desired = { indexes: [INDEX], triggers: [TRIGGER] };
    expect(plan(desired, NONE)).toEqual({ changes: ['shop create', 'by_buyer create', 'send create'], fixed: [] });
    expect(plan(desired, THERE)).toEqual({ changes: ['shop none', 'by_buyer none', 'send none'], fixed: [] });
  });

  it.each<[string, Partial<IndexDefinition>, readonly string[]]>([
    ['a field more', { fields: [...INDEX.fields, { field: 'city', type: 'string', column_key: 'BASE' }] }, []],
    ['a field less', { fields: INDEX.fields.slice(0, 1) }, []],
    ['a key', { keys: [['buyer', 'total']] }, []],
    [
      'another type',
      { fields: [{ field: 'buyer', type: 'string', column_key: 'BASE' }] },
      ['by_buyer buyer.type: UUID, string'],
    ],
    [
      'another column',
      { fields: [{ field: 'buyer', type: 'UUID', column_key: 'NOTES' }] },
      ['by_buyer buyer.column_key: BASE, NOTES'],
    ],
    [
      'another shard field',
      { fields: INDEX.fields.toReversed() },
      ['by_buyer column_defs[0].fields[0].field: buyer, total'],
    ],
  ])('of an index with %s', (_what, change, fixed) => {
    const planned = plan({ indexes: [{ ...INDEX, ...change }] }, THERE);
    expect(planned).toEqual({ changes: ['shop none', 'by_buyer change'], fixed });
  });

  it.each<[string, Partial<TriggerDefinition>, readonly string[]]>([
    ['other columns', { columns: ['NOTES'] }, []],
    ['other times', { timeoutSeconds: 60, retryParkedEveryMs: 500 }, []],
    [
      'another start',
      { start: { since: '2026-01-31T08:00:00.000000Z' } },
      ['send start: start, 2026-01-31T08:00:00.000000Z'],
    ],
    ['a function', { function: 'functions/send.ts' }, ['send function: nothing, functions/send.ts']],
  ])('of a trigger with %s', (_what, change, fixed) => {
    const planned = plan({ triggers: [{ ...TRIGGER, ...change }] }, THERE);
    expect(planned).toEqual({ changes: ['shop none', 'send change'], fixed });
  });

  it('keeps the number of shards, but for what is deployed, whose number the environment says', () => {
    expect(plan({ shards: 8 }, THERE).fixed).toEqual(['shop shards: 4, 8']);
    const deployed = { name: 'shop', shards: 4, indexes: [], triggers: [] };
    expect(plan({ shards: 8 }, { ...THERE, deployed }).fixed).toEqual([]);
  });

  it('leaves to the deployment what that defines', () => {
    const deployed = { name: 'shop', shards: 4, indexes: [INDEX], triggers: [TRIGGER] };
    const desired = { indexes: [{ ...INDEX, keys: [['buyer', 'total']] }], triggers: [{ ...TRIGGER, maxAttempts: 7 }] };
    expect(plan(desired, { ...THERE, deployed }).fixed).toEqual([
      'by_buyer keys: as deployed, something else',
      'send maxAttempts: as deployed, something else',
    ]);
    expect(plan({ indexes: [INDEX], triggers: [TRIGGER] }, { ...THERE, deployed }).fixed).toEqual([]);
  });

  it.each<[string, DatastoreDefinition['sealed'], readonly string[]]>([
    ['no list', undefined, ['shop sealed: BASE: name, BASE: phone, no sealed fields']],
    ['a list that lacks one', [sealedIn('BASE', ['name'])], ['shop sealed: BASE: phone, a list without them']],
    [
      'the column of another',
      [sealedIn('NOTE', ['name', 'phone'])],
      ['shop sealed: BASE: name, BASE: phone, a list without them'],
    ],
    ['another order, and one more', [sealedIn('BASE', ['mail', 'phone', 'name'])], []],
  ])('turns no sealing off: by %s', (_what, sealed, fixed) => {
    const current = { ...THERE, sealed: [sealedIn('BASE', ['name', 'phone'])] };
    const planned = plan({ ...(sealed && { sealed }) }, current);
    expect(planned).toEqual({ changes: [`shop ${fixed.length > 0 ? 'none' : 'change'}`], fixed });
  });

  it('gives a sealed field no other type than an index has that stays', () => {
    const sealed = [sealedIn('BASE', ['mail'])];
    const [there, desired] = [indexOn('by_mail', { mail: 'string' }), indexOn('by_mail_too', { mail: 'UUID' })];
    const current = { ...THERE, sealed, indexes: [there] };
    expect(plan({ sealed, indexes: [desired] }, current).fixed).toEqual(['by_mail_too mail.type: string, UUID']);
  });

  it('seals nothing where there is no root key', () => {
    const sealed = [sealedIn('BASE', ['name'])];
    expect(plan({ sealed }, NONE).fixed).toEqual([]);
    expect(plan({ sealed }, NONE, false).fixed).toEqual(['shop sealed: no sealed fields, some']);
    expect(plan({}, NONE, false).fixed).toEqual([]);
  });

  it('serves a retired datastore again, with the shards that it has', () => {
    expect(plan({}, { ...THERE, isRetired: true })).toEqual({ changes: ['shop change'], fixed: [] });
    expect(plan({ shards: 5 }, { ...THERE, isRetired: true }).fixed).toEqual(['shop shards: 4, 5']);
  });
});
