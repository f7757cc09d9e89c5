import { describe, expect, it } from 'vitest';
import { readAppContext, type AppContext } from '../../../infra/app-context.ts';
import { appOf, propertiesOf } from '../support/synthesized.ts';

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

  it.each(['account', 'region', 'zones', 'cidr'])('for %s of the local environment', (key) => {
    expect(() => readAppContext({ environment: 'local', [key]: 'any' })).toThrow(
      `${key}: wanted nothing, since local is deployed nowhere, got "any"`,
    );
  });
});

it('an environment is bound to the account and the region of the context, with its zones and addresses', () => {
  const { stacks, texts } = appOf({
    environment: 'dev',
    account: '123456789012',
    region: 'us-east-1',
    zones: 'use1-az2, use1-az6',
    cidr: '172.20.0.0/18',
  });
  const manifest = JSON.parse(texts.get('manifest.json') ?? '');
  for (const { name } of stacks) expect(manifest.artifacts[name].environment).toBe('aws://123456789012/us-east-1');
  expect(propertiesOf(stacks, 'AWS::EC2::Subnet')).toMatchObject([
    { AvailabilityZoneId: 'use1-az2', CidrBlock: '172.20.0.0/22' },
    { AvailabilityZoneId: 'use1-az6', CidrBlock: '172.20.4.0/22' },
  ]);
  expect(manifest).not.toHaveProperty('missing');
});

it('an environment without a region warns only where it is deployed', () => {
  const warns = (environment: string): boolean =>
    [...appOf({ environment }).texts.values()].join('').includes('schemaless:zones');
  expect([warns('dev'), warns('local')]).toEqual([true, false]);
});
