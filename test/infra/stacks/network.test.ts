import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readAppContext, type AppContext } from '../../../infra/app-context.ts';
import { resourcesOf, synthesized } from '../support/synthesized.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

describe('the context is refused', () => {
  const cases: readonly (readonly [string, AppContext, string])[] = [
    ['an account too short', { account: '1234' }, 'account: wanted twelve digits, got "1234"'],
    ['a zone as region', { region: 'eu-west-1a' }, 'region: wanted a region such as eu-west-1, got "eu-west-1a"'],
    ['no zones', { zones: '' }, 'zones: wanted zone ids with commas between them, got ""'],
    ['a list', { zones: ['use1-az1'] }, 'zones: wanted zone ids with commas between them, got an array'],
    ['no range', { cidr: '' }, 'cidr: wanted a range such as 10.0.0.0/16, got ""'],
  ];
  it.each(cases)('for %s', (_what, context, message) => {
    expect(() => readAppContext({ environment: 'prod', ...context })).toThrow(message);
  });

  it.each(['account', 'region', 'zones', 'cidr'])('for %s of what is deployed nowhere', (key) => {
    expect(() => readAppContext({ environment: 'local', [key]: 'any' })).toThrow(
      `${key}: wanted nothing, since local is deployed nowhere, got "any"`,
    );
  });
});

describe('an environment', () => {
  it('is bound to the account and the region of the context, with its zones and addresses', () => {
    const binding = {
      account: '123456789012',
      region: 'us-east-1',
      zones: 'use1-az2, use1-az6',
      cidr: '172.20.0.0/18',
    };
    const stacks = synthesized(join(folder.path, 'bound'), { environment: 'dev', ...binding });
    const manifest: { readonly artifacts: Readonly<Record<string, { readonly environment?: string }>> } = JSON.parse(
      readFileSync(join(folder.path, 'bound', 'manifest.json'), 'utf8'),
    );
    for (const { name } of stacks) expect(manifest.artifacts[name]?.environment).toBe('aws://123456789012/us-east-1');
    expect(resourcesOf(stacks, 'AWS::EC2::Subnet').map(({ Properties }) => Properties)).toMatchObject([
      { AvailabilityZoneId: 'use1-az2', CidrBlock: '172.20.0.0/22' },
      { AvailabilityZoneId: 'use1-az6', CidrBlock: '172.20.4.0/22' },
    ]);
    expect(manifest).not.toHaveProperty('missing');
  });

  it.each(['dev', 'local'])('of no place warns where it would be deployed: %s', (environment) => {
    const out = join(folder.path, environment);
    synthesized(out, { environment });
    const said = ['manifest.json', `Schemaless-${environment}-storage.metadata.json`].map((name) =>
      readFileSync(join(out, name), 'utf8'),
    );
    expect(said.join('').includes('schemaless:zones')).toBe(environment === 'dev');
  });
});
