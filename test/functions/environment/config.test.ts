import { describe, expect, it } from 'vitest';
import { readConfig, readTailers } from '../../../functions/environment/config.ts';

const VARIABLES = {
  SCHEMALESS_ENVIRONMENT: 'local',
  SCHEMALESS_TOPOLOGY_TABLE: 'topology',
  SCHEMALESS_STATE_TABLE: 'state',
  SCHEMALESS_BUFFER_COPIES: '1',
  SCHEMALESS_ACCESS: 'mysql',
  SCHEMALESS_DATABASE_USER: 'write',
  SCHEMALESS_DATABASE_AUTH: 'secret',
  SCHEMALESS_CONNECTIONS: '8',
};

describe('the configuration of functions', () => {
  it('is read from the environment', () => {
    expect(readConfig(VARIABLES)).toEqual({ environment: 'local', topologyTable: 'topology', stateTable: 'state', bufferCopies: 1, access: 'mysql', databaseUser: 'write', databaseAuth: 'secret', connections: 8 });
  });

  it.each(Object.keys(VARIABLES))('names %s when it is missing', (name) => {
    expect(() => readConfig({ ...VARIABLES, [name]: undefined })).toThrow(name);
    expect(() => readConfig({ ...VARIABLES, [name]: '' })).toThrow(name);
  });

  it('has the number of tailers for the function that is one', () => {
    expect(readTailers({ SCHEMALESS_TAILERS: '4' })).toBe(4);
    for (const value of [undefined, '', '65', '-1', '1.5']) expect(() => readTailers({ SCHEMALESS_TAILERS: value })).toThrow('SCHEMALESS_TAILERS: wanted a whole number from 0 to 64');
  });

  it.each([
    ['SCHEMALESS_BUFFER_COPIES', '-1'],
    ['SCHEMALESS_BUFFER_COPIES', '1.5'],
    ['SCHEMALESS_ACCESS', 'postgres'],
    ['SCHEMALESS_DATABASE_USER', 'root'],
    ['SCHEMALESS_DATABASE_AUTH', 'none'],
    ['SCHEMALESS_CONNECTIONS', '0'],
    ['SCHEMALESS_CONNECTIONS', '100'],
  ])('refuses %s=%s, naming both', (name, value) => {
    expect(() => readConfig({ ...VARIABLES, [name]: value })).toThrow(new RegExp(`${name}.*${value}`));
  });
});
