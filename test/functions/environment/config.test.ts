import { afterEach, describe, expect, it, vi } from 'vitest';
import { CONSUMER_KEYS, environmentName, readConfig } from '../../../functions/environment/config.ts';
import { readVariables, text, wholeNumber } from '../../../functions/environment/variables.ts';
import {
  environmentOf,
  STORE_VARIABLES,
  type ConsumerVariable,
  type StoreVariable,
} from '../../../shared/environment.ts';

import { stubEnvironment } from '../../support/stub-environment.ts';

const VARIABLES = environmentOf<StoreVariable>({
  environment: 'local',
  topologyTable: 'topology',
  stateTable: 'state',
  bufferCopies: '1',
  access: 'mysql',
  databaseUser: 'write',
  databaseAuth: 'secret',
  connections: '8',
});

afterEach(() => vi.unstubAllEnvs());

describe('the configuration of functions', () => {
  it('is read from the environment', () => {
    stubEnvironment(VARIABLES);
    expect(readConfig(STORE_VARIABLES)).toEqual({
      environment: 'local',
      topologyTable: 'topology',
      stateTable: 'state',
      bufferCopies: 1,
      access: 'mysql',
      databaseUser: 'write',
      databaseAuth: 'secret',
      connections: 8,
    });
  });

  it.each(Object.keys(VARIABLES))('names %s when it is missing', (name) => {
    stubEnvironment({ ...VARIABLES, [name]: undefined });
    const missing = new RegExp(`^The environment variable ${name}: wanted .+, got nothing$`);
    expect(() => readConfig(STORE_VARIABLES)).toThrow(missing);
    expect(() => readConfig(STORE_VARIABLES, { ...VARIABLES, [name]: '' })).toThrow(missing);
  });

  it('has the number of tailers for the function that is one', () => {
    expect(readConfig(['tailers'], { SCHEMALESS_TAILERS: '4' })).toEqual({ tailers: 4 });
    for (const value of [undefined, '', '65', '-1', '1.5'])
      expect(() => readConfig(['tailers'], { SCHEMALESS_TAILERS: value })).toThrow(
        'SCHEMALESS_TAILERS: wanted a whole number from 0 to 64',
      );
  });

  it("of a trigger's function is what its stack sets, and the region", () => {
    const config = {
      environment: 'dev',
      topologyTable: 'topology',
      stateTable: 'state',
      apiUrl: 'https://api',
      datastore: 'trips',
    };
    expect(readConfig(CONSUMER_KEYS, { ...environmentOf<ConsumerVariable>(config), AWS_REGION: 'eu-west-1' })).toEqual({
      ...config,
      region: 'eu-west-1',
    });
  });

  it.each([
    ['SCHEMALESS_BUFFER_COPIES', '-1'],
    ['SCHEMALESS_BUFFER_COPIES', '1.5'],
    ['SCHEMALESS_BUFFER_COPIES', '1000'],
    ['SCHEMALESS_ACCESS', 'postgres'],
    ['SCHEMALESS_DATABASE_USER', 'root'],
    ['SCHEMALESS_DATABASE_AUTH', 'none'],
    ['SCHEMALESS_CONNECTIONS', '0'],
    ['SCHEMALESS_CONNECTIONS', '100'],
  ])('refuses %s=%s, naming both', (name, value) => {
    expect(() => readConfig(STORE_VARIABLES, { ...VARIABLES, [name]: value })).toThrow(new RegExp(`${name}.*${value}`));
  });

  it('tells all that is wrong at once', () => {
    const wrong = {
      ...VARIABLES,
      SCHEMALESS_ACCESS: 'postgres',
      SCHEMALESS_STATE_TABLE: '',
      SCHEMALESS_CONNECTIONS: '0',
    };
    const problems = [
      'The environment variable SCHEMALESS_STATE_TABLE: wanted the name of a table, got nothing',
      'The environment variable SCHEMALESS_ACCESS: wanted one of mysql, data-api, got "postgres"',
      'The environment variable SCHEMALESS_CONNECTIONS: wanted a whole number from 1 to 99, got "0"',
    ];
    expect(() => readConfig(STORE_VARIABLES, wrong)).toThrow(new Error(problems.join('\n')));
  });

  it('has a name where nothing says it', () => {
    expect(environmentName()).toBe('unknown');
    vi.stubEnv('SCHEMALESS_ENVIRONMENT', 'prod');
    expect(environmentName()).toBe('prod');
  });
});

describe('a variable', () => {
  it('has its fallback where it is not set, or empty', () => {
    const variables = {
      a: text('A', 'text'),
      b: { ...text('B', 'text'), fallback: 'none' },
      c: { ...wholeNumber('C', 1, 9), fallback: 3 },
    };
    expect(readVariables(variables, { A: 'x' })).toEqual({ a: 'x', b: 'none', c: 3 });
    expect(readVariables(variables, { A: 'x', B: '', C: '7' })).toEqual({ a: 'x', b: 'none', c: 7 });
    expect(() => readVariables(variables, { A: 'x', C: '07' })).toThrow(
      'C: wanted a whole number from 1 to 9, got "07"',
    );
  });
});
