import type { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import { secretOf } from '../../../functions/environment/connect/connector.ts';
import { userLogins } from '../../../functions/environment/credentials.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';

const SECRETS = { read: 'r', tail: 't', write: 'w', repair: 'x', move: 'm', erase: 'e' };
const endpoint = { host: 'db', port: 3306 };
const groupWith = (userSecrets: GroupAddress['userSecrets']): GroupAddress => ({
  name: 'group-1',
  writer: endpoint,
  reader: endpoint,
  nodes: [endpoint],
  sharedStorage: true,
  clusterArn: 'arn',
  secret: 's',
  ...(userSecrets && { userSecrets }),
});

const client = {
  send: async ({ input }: GetSecretValueCommand) => ({
    SecretString: JSON.stringify({ username: 'any', password: `of ${input.SecretId}` }),
  }),
} as unknown as Pick<SecretsManagerClient, 'send'>;

describe('the users of a group', () => {
  it('log in by their secrets', async () => {
    const login = (password: string) => ({ username: 'any', password });
    expect(await userLogins('secret', client)(groupWith(SECRETS))).toEqual({
      read: login('of r'),
      tail: login('of t'),
      write: login('of w'),
      repair: login('of x'),
      move: login('of m'),
      erase: login('of e'),
    });
  });

  it('log in with tokens where IAM vouches for them', async () => {
    const none = { send: () => expect.unreachable() };
    expect(new Set(Object.values(await userLogins('iam', none)(groupWith(undefined))))).toEqual(new Set(['token']));
  });

  it('have a secret each, besides the owner of the databases', () => {
    expect([secretOf(groupWith(SECRETS), 'write'), secretOf(groupWith(SECRETS), 'owner')]).toEqual(['w', 's']);
    expect(() => secretOf(groupWith(undefined), 'erase')).toThrow(
      'group-1: wanted a secret of schemaless_erase, got none',
    );
  });
});
