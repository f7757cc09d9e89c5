import { describe, expect, it } from 'vitest';
import { markSealed, type IndexDefinition, type SealedFields } from '../../../shared/definitions/definitions.ts';
import { indexOn } from '../../support/index-on.ts';
import { defined, deploy, manageWith, shop, topologyNow, desired, useShop } from './support/shop.ts';

useShop();

const sealedIn = (...fields: readonly string[]): readonly SealedFields[] => [
  { column: 'BASE', subject: 'buyer', fields },
];
const sealedNow = async () => (await topologyNow().datastore(shop.name))?.sealed;

const INDEX = indexOn('by_mail', { mail: 'string' });

describe('a datastore with sealed fields', () => {
  it.each([
    ['without a list', {}, 'no sealed fields'],
    ['with a list that lacks one', { sealed: sealedIn('name') }, 'a list without them'],
  ])('goes on sealing them after a deployment %s, which is refused', async (_what, more, got) => {
    expect(await deploy([desired(2, { sealed: sealedIn('name', 'phone') })])).toBe(true);
    await expect(deploy([desired(2, more)])).rejects.toThrow(
      new RegExp(`datastore ${shop.name}: sealed: wanted .*BASE: phone, which are sealed, got ${got}`, 'u'),
    );
    expect(await sealedNow()).toEqual(sealedIn('name', 'phone'));
    expect(await deploy([desired(2, { sealed: sealedIn('phone', 'name', 'mail') })])).toBe(true);
    expect(await sealedNow()).toEqual(sealedIn('phone', 'name', 'mail'));
  });

  it('seals a field of an index once the version with its hash is known: no entry is lost between', async () => {
    await deploy([desired(2, { indexes: [INDEX] })]);
    const sealed = sealedIn('mail');
    const seen: unknown[] = [];
    // Clock: as often as it can be polled
    const poll = setInterval(() => {
      const topology = topologyNow();
      void Promise.all([topology.datastore(shop.name), topology.indexes(shop.name)]).then(([datastore, indexes]) =>
        seen.push([
          datastore?.sealed !== undefined,
          indexes.some(({ versions }) => versions.some(({ definition }) => definition.fields[0]?.sealed)),
        ]),
      );
    }, 1);
    expect(await deploy([desired(2, { sealed, indexes: [markSealed(INDEX, sealed)] })])).toBe(true);
    clearInterval(poll);
    expect(seen).not.toContainEqual([true, false]);
    expect(await sealedNow()).toEqual(sealed);
  });

  const [sealed, mail] = [
    sealedIn('mail'),
    (type: IndexDefinition['fields'][number]['type'], name = 'by_mail') =>
      markSealed(indexOn(name, { mail: type }), sealedIn('mail')),
  ] as const;

  it.each<[string, readonly IndexDefinition[]]>([
    ['another type of it', [mail('UUID')]],
    ['another type in another index', [mail('UUID', 'by_mail_too')]],
    ['a type that has no hash', [mail('number')]],
  ])('is refused with %s', async (_what, indexes) => {
    await deploy([desired(2, { sealed, indexes: [mail('string')] })]);
    await expect(deploy([desired(2, { sealed, indexes })])).rejects.toThrow(
      /index .*: mail\.type: wanted string, got \w+: a sealed field has one keyed hash/u,
    );
  });

  it('is refused where an index that was applied has a field otherwise that is to be sealed', async () => {
    await deploy([desired(2)]);
    await manageWith(0).apply(defined(2, { indexes: [indexOn('by_mail', { mail: 'number' })] }), false);
    await expect(deploy([desired(2, { sealed })])).rejects.toThrow(/by_mail: mail\.type: wanted UUID or string/u);
    expect(await sealedNow()).toBeUndefined();
  });
});
