import { mkdirSync, writeFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { chooseTarget } from '../../../infra/cli/target/choose-target.ts';
import { profilesFile, readProfiles, writeProfiles } from '../../../infra/cli/target/profiles.ts';
import { signerOf } from '../../../infra/cli/target/signer.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { fakeApi } from './fake-api.ts';

const folder = folderOfTests();
const environment = { XDG_CONFIG_HOME: join(folder.path, 'config') };
const file = profilesFile(environment);
const usualUrl = 'http://127.0.0.1:1';
const at = { environment, folder: folder.path, usualUrl };
const PROD = 'https://a1b2c3.execute-api.eu-central-1.amazonaws.com';
const api = fakeApi(() => [200, {}]);

beforeEach(() => {
  writeProfiles(file, {
    current: 'prod',
    profiles: {
      prod: { url: PROD, datastore: 'trips', aws_profile: 'operator' },
      test: { url: 'http://test.example', datastore: 'shop' },
    },
  });
});

describe('which API is asked', () => {
  it('is not given the credentials of a profile that was not named with a URL that was', async () => {
    const set = { ...at, environment: { ...environment, SCHEMALESS_PROFILE: 'prod' } };
    const asked = { url: 'http://other.example' };
    expect(await chooseTarget(asked, set)).toMatchObject({ awsProfile: undefined, datastore: undefined, sign: false });
    expect(await chooseTarget({ ...asked, profile: 'prod' }, set)).toMatchObject({ awsProfile: 'operator' });
  });

  it('is not given a signature over plain HTTP, but on this machine', async () => {
    const target = { by: '', datastore: undefined, sign: true, region: 'eu-central-1', awsProfile: undefined };
    await expect(signerOf({ ...target, url: 'http://other.example' })).rejects.toMatchObject({ ending: 'usage' });
    expect(await signerOf({ ...target, url: 'http://127.0.0.1:4000' })).toBeTypeOf('function');
    expect(await signerOf({ ...target, url: 'https://other.example' })).toBeTypeOf('function');
  });

  it('is that of the flag, then the named profile, the environment, the current profile', async () => {
    const set = { ...at, environment: { ...environment, SCHEMALESS_URL: 'http://env.example' } };
    const chosen = async (flags: object, place = at): Promise<unknown> => (await chooseTarget(flags, place)).url;
    expect(await chosen({ url: 'http://flag.example', profile: 'test' }, set)).toBe('http://flag.example');
    expect(await chosen({ profile: 'test' }, set)).toBe('http://test.example');
    expect(await chosen({}, set)).toBe('http://env.example');
    expect(await chosen({}, { ...at, environment: { ...environment, SCHEMALESS_PROFILE: 'test' } as never })).toBe(
      'http://test.example',
    );
    expect(await chosen({})).toBe(PROD);
  });

  it('has the datastore of the same place: of the flag, a profile that is named, the environment, the profile', async () => {
    const set = { ...at, environment: { ...environment, SCHEMALESS_DATASTORE: 'orders' } };
    const chosen = async (flags: object, place = at): Promise<unknown> => (await chooseTarget(flags, place)).datastore;
    expect(await chosen({ datastore: 'flag', profile: 'test' }, set)).toBe('flag');
    expect(await chosen({ profile: 'test' }, set)).toBe('shop');
    expect(await chosen({}, set)).toBe('orders');
    expect(await chosen({})).toBe('trips');
    // The current profile is of another API.
    expect(await chosen({ url: 'http://flag.example' })).toBeUndefined();
  });

  it('is signed for where the profile says so, or it is of API Gateway', async () => {
    expect(await chooseTarget({}, at)).toMatchObject({ sign: true, region: 'eu-central-1', awsProfile: 'operator' });
    expect(await chooseTarget({ profile: 'test' }, at)).toMatchObject({ sign: false });
    expect(await chooseTarget({ profile: 'test', sign: true }, at)).toMatchObject({ sign: true });
    expect(await chooseTarget({ sign: false }, at)).toMatchObject({ sign: false });
    expect(await chooseTarget({ url: `${PROD}.evil.example` }, at)).toMatchObject({ sign: false });
  });

  it('is the local stack above this folder where nothing else says, if it runs', async () => {
    writeProfiles(file, { profiles: {} });
    await expect(chooseTarget({}, at)).rejects.toMatchObject({
      message: 'No API: no URL is given, and no local stack was found',
      details: { ending: 'usage', fix: expect.stringContaining('npm start') },
    });
    const [data, below] = [join(folder.path, '.local'), join(folder.path, 'a', 'b')];
    for (const one of [data, below]) mkdirSync(one, { recursive: true });
    writeFileSync(join(data, 'schemaless-local-stack'), '');
    writeFileSync(join(data, 'endpoints.json'), JSON.stringify({ http: api.url() }));
    expect(await chooseTarget({}, { ...at, folder: below })).toMatchObject({
      url: api.url(),
      by: `its data is in ${data}`,
    });
    writeFileSync(join(data, 'endpoints.json'), JSON.stringify({ http: usualUrl }));
    await expect(chooseTarget({}, at)).rejects.toThrow('no local stack was found');
    writeFileSync(join(data, 'endpoints.json'), '{"ht');
    await expect(chooseTarget({}, at)).rejects.toThrow('no local stack was found');
  });
});

describe('profiles', () => {
  it('are kept for their owner alone, and come back as they were', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readProfiles(file)).toMatchObject({ current: 'prod', profiles: { prod: { url: PROD } } });
  });

  it.each([
    ['profiles: [', 'wanted YAML'],
    [
      'profiles: { prod: { uri: x } }',
      `${file}: prod: wanted the keys url, datastore, sign, region, aws_profile, got uri; did you mean url?`,
    ],
    ['profiles: { prod: { sign: "yes" } }', 'prod: sign: wanted true or false, got "yes"'],
    ['profiles: { prod: { url: ftp://x } }', 'prod: url: wanted an http or https URL'],
    ['profile: {}', 'wanted the keys current, profiles, got profile; did you mean profiles?'],
  ])('that cannot be read name the place: %s', (yaml, message) => {
    writeFileSync(file, yaml);
    expect(() => readProfiles(file)).toThrow(message);
  });

  it('that are not there are named with those that are', async () => {
    await expect(chooseTarget({ profile: 'prd' }, at)).rejects.toThrow(
      'profile: wanted one of prod, test, got "prd"; did you mean prod?',
    );
  });
});
