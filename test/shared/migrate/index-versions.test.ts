import { describe, expect, it } from 'vitest';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { wishedVersions } from '../../../shared/migrate/index-versions.ts';
import { definitionHash, type IndexState, type IndexVersion } from '../../../shared/topology/index-catalogue.ts';

const define = (field: string): IndexDefinition => ({
  name: 'by_driver',
  fields: [{ field, type: 'UUID', column_key: 'BASE' }],
  keys: [],
});
const [a, b, c] = [define('a'), define('b'), define('c')];
const version = (definition: IndexDefinition, state: IndexState, round = 0): IndexVersion => ({
  hash: definitionHash(definition, round),
  definition,
  state,
  ...(state === 'retired' && { retired_at: '2025-01-06T05:00:00.000Z' }),
});
const NOW = new Date('2025-02-03T04:05:06Z');
const retiredNow = (definition: IndexDefinition): IndexVersion => ({
  ...version(definition, 'retired'),
  retired_at: NOW.toISOString(),
});

describe('the versions of an index', () => {
  it.each<[string, readonly IndexVersion[], IndexDefinition | undefined, readonly IndexVersion[]]>([
    ['new: it is built', [], a, [version(a, 'building')]],
    [
      'changed: the new version is built, and the live one answers meanwhile',
      [version(a, 'live')],
      b,
      [version(a, 'live'), version(b, 'building')],
    ],
    [
      'changed again: the version that was being built is retired',
      [version(a, 'live'), version(b, 'building')],
      c,
      [version(a, 'live'), retiredNow(b), version(c, 'building')],
    ],
    [
      'changed back: the live version stays',
      [version(a, 'live'), version(b, 'building')],
      a,
      [version(a, 'live'), retiredNow(b)],
    ],
    ['changed while it was first built', [version(a, 'building')], b, [retiredNow(a), version(b, 'building')]],
    [
      'removed: every version is retired',
      [version(a, 'live'), version(b, 'building'), version(c, 'retired')],
      undefined,
      [retiredNow(a), retiredNow(b), version(c, 'retired')],
    ],
    [
      'wanted again: a new version beside the retired one',
      [version(a, 'retired'), version(b, 'live')],
      a,
      [version(a, 'retired'), version(b, 'live'), version(a, 'building', 1)],
    ],
    [
      'wanted a third time',
      [version(a, 'retired'), version(a, 'retired', 1)],
      a,
      [version(a, 'retired'), version(a, 'retired', 1), version(a, 'building', 2)],
    ],
    [
      'wanted again after the first was forgotten',
      [version(a, 'retired', 1)],
      a,
      [version(a, 'retired', 1), version(a, 'building')],
    ],
  ])('%s', (_, versions, wished, expected) => {
    const changed = wishedVersions(versions, wished, 'building', NOW);
    expect(changed).toEqual(expected);
    expect(wishedVersions(changed, wished, 'building')).toBe(changed);
    expect(new Set(changed.map(({ hash }) => hash)).size).toBe(changed.length);
  });

  it.each<[string, readonly IndexVersion[], IndexDefinition | undefined]>([
    ['live', [version(a, 'live')], a],
    ['being built', [version(a, 'building')], a],
    ['being built beside the live one', [version(a, 'live'), version(b, 'building')], b],
    ['live under another hash', [version(a, 'retired'), version(a, 'live', 1)], a],
    ['all retired and not wished', [version(a, 'retired')], undefined],
    ['never there and not wished', [], undefined],
  ])('are left alone where they are as wished: %s', (_, versions, wished) => {
    expect(wishedVersions(versions, wished, 'building')).toBe(versions);
  });

  it('of a datastore that does not exist yet are live at once, and the only ones', () => {
    expect(wishedVersions([], a, 'live')).toEqual([version(a, 'live')]);
    expect(wishedVersions([version(a, 'live')], b, 'live', NOW)).toEqual([retiredNow(a), version(b, 'live')]);
  });
});
