import { describe, expect, it } from 'vitest';
import { readConfig } from '../../functions/config.ts';

const VARIABLES = {
  SCHEMALESS_ENVIRONMENT: 'local',
  SCHEMALESS_TOPOLOGY_TABLE: 'topology',
  SCHEMALESS_STATE_TABLE: 'state',
  SCHEMALESS_BUFFER_COPIES: '1',
  SCHEMALESS_ACCESS: 'mysql',
};

describe('the configuration of functions', () => {
  it('is read from the environment', () => {
    expect(readConfig(VARIABLES)).toEqual({ environment: 'local', topologyTable: 'topology', stateTable: 'state', bufferCopies: 1, access: 'mysql' });
  });

  it.each(Object.keys(VARIABLES))('names %s when it is missing', (name) => {
    expect(() => readConfig({ ...VARIABLES, [name]: undefined })).toThrow(name);
    expect(() => readConfig({ ...VARIABLES, [name]: '' })).toThrow(name);
  });

  it.each([
    ['SCHEMALESS_BUFFER_COPIES', '-1'],
    ['SCHEMALESS_BUFFER_COPIES', '1.5'],
    ['SCHEMALESS_ACCESS', 'postgres'],
  ])('refuses %s=%s, naming both', (name, value) => {
    expect(() => readConfig({ ...VARIABLES, [name]: value })).toThrow(new RegExp(`${name}.*${value}`));
  });
});
