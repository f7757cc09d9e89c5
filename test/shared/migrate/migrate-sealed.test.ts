import { describe, expect, it } from 'vitest';
import type { SealedFields } from '../../../shared/definitions/definitions.ts';
import { defined, deploy, manageWith, shop, topologyNow, wished } from './support/shop.ts';

const sealedIn = (...fields: readonly string[]): readonly SealedFields[] => [
  { column: 'BASE', subject: 'buyer', fields },
];
const sealedNow = async () => (await topologyNow().datastore(shop.name))?.sealed;

describe('a datastore with sealed fields', () => {
  it.each([
    ['without a list', {}, 'no sealed fields'],
    ['with a list that lacks one', { sealed: sealedIn('name') }, 'a list without them'],
  ])('goes on sealing them after a deployment %s, which is refused', async (_what, more, got) => {
    expect(await deploy([wished(2, { sealed: sealedIn('name', 'phone') })])).toBe(true);
    await expect(deploy([wished(2, more)])).rejects.toThrow(
      new RegExp(`datastore ${shop.name}: sealed: wanted .*BASE: phone, which are sealed, got ${got}`, 'u'),
    );
    expect(await sealedNow()).toEqual(sealedIn('name', 'phone'));
    expect(await deploy([wished(2, { sealed: sealedIn('phone', 'name', 'mail') })])).toBe(true);
    expect(await sealedNow()).toEqual(sealedIn('phone', 'name', 'mail'));
  });

  it('goes on sealing them after an apply without them, which is refused', async () => {
    const management = manageWith(0);
    await management.apply(defined(2, { sealed: sealedIn('name') }), false);
    for (const isDryRun of [true, false])
      await expect(management.apply(defined(2), isDryRun)).rejects.toMatchObject({
        code: 'fixed_definition',
        field: 'sealed',
        wanted: 'BASE: name',
      });
    expect(await sealedNow()).toEqual(sealedIn('name'));
  });
});
