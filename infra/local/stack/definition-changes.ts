import { isDeepStrictEqual } from 'node:util';
import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';

interface Named {
  readonly name: string;
}

/** Describes changed definitions: `index by_driver of trips added`. */
export function definitionChanges(
  before: readonly DatastoreDefinition[],
  after: readonly DatastoreDefinition[],
): readonly string[] {
  const changes = changesOf('datastore', '', before, after, () => true);
  const stayed = after.flatMap((now) => {
    const former = before.find(({ name }) => name === now.name);
    return former ? [{ former, now }] : [];
  });
  return [
    ...changes,
    ...stayed.flatMap(({ former, now }) => [
      ...changesOf('index', ` of ${now.name}`, former.indexes, now.indexes, isDeepStrictEqual),
      ...changesOf('trigger', ` of ${now.name}`, former.triggers, now.triggers, isDeepStrictEqual),
    ]),
  ];
}

function changesOf<T extends Named>(
  noun: string,
  where: string,
  before: readonly T[],
  after: readonly T[],
  isSame: (one: T, other: T) => boolean,
): readonly string[] {
  const known = new Map(before.map((one) => [one.name, one]));
  const left = new Set(after.map(({ name }) => name));
  return [
    ...after.flatMap((now) => {
      const former = known.get(now.name);
      if (!former) return [`${noun} ${now.name}${where} added`];
      return isSame(former, now) ? [] : [`${noun} ${now.name}${where} changed`];
    }),
    ...before.filter(({ name }) => !left.has(name)).map(({ name }) => `${noun} ${name}${where} gone`),
  ];
}
