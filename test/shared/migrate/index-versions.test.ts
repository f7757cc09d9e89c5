import { describe, expect, it } from 'vitest';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { desiredVersions } from '../../../shared/migrate/index-versions.ts';
import { definitionHash, type IndexState, type IndexVersion } from '../../../shared/topology/index-catalogue.ts';
import { indexOn } from '../../support/index-on.ts';

const define = (field: string) => indexOn('by_driver', { [field]: 'UUID' });
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

const DEFINITIONS = { a, b, c };
/** Of words: which definition, in which state, of which round or since when: "a live, b retired now, a building 1". */
const versionsOf = (text: string): readonly IndexVersion[] =>
  text
    .split(', ')
    .filter(Boolean)
    .map((words) => {
      const [of, state, more] = words.split(' ') as [keyof typeof DEFINITIONS, IndexState, string | undefined];
      return more === 'now' ? retiredNow(DEFINITIONS[of]) : version(DEFINITIONS[of], state, Number(more ?? 0));
    });

describe('the versions of an index', () => {
  it.each<[string, string, keyof typeof DEFINITIONS | undefined, string]>([
    ['new: it is built', '', 'a', 'a building'],
    ['changed: the new version is built, and the live one answers until then', 'a live', 'b', 'a live, b building'],
    [
      'changed again: the version that was being built is retired',
      'a live, b building',
      'c',
      'a live, b retired now, c building',
    ],
    ['changed back: the live version stays', 'a live, b building', 'a', 'a live, b retired now'],
    ['changed while it was first built', 'a building', 'b', 'a retired now, b building'],
    [
      'removed: every version is retired',
      'a live, b building, c retired',
      undefined,
      'a retired now, b retired now, c retired',
    ],
    ['wanted again: a new version after the retired one', 'a retired, b live', 'a', 'a retired, b live, a building 1'],
    ['wanted a third time', 'a retired, a retired 1', 'a', 'a retired, a retired 1, a building 2'],
    ['wanted again after the first was forgotten', 'a retired 1', 'a', 'a retired 1, a building'],
    ['as it is, under another hash', 'a retired, a live 1', 'a', 'a retired, a live 1'],
    ['never there and not wanted', '', undefined, ''],
  ])('%s', (_, before, name, after) => {
    const desired = name && DEFINITIONS[name];
    const changed = desiredVersions(versionsOf(before), desired, 'building', NOW);
    expect(changed).toEqual(versionsOf(after));
    expect(desiredVersions(changed, desired, 'building')).toBe(changed);
    expect(new Set(changed.map(({ hash }) => hash)).size).toBe(changed.length);
  });

  it('of a datastore that does not exist yet are live at once, and the only ones', () => {
    expect(desiredVersions([], a, 'live')).toEqual([version(a, 'live')]);
    expect(desiredVersions([version(a, 'live')], b, 'live', NOW)).toEqual([retiredNow(a), version(b, 'live')]);
  });
});
