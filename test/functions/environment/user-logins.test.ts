import type { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import { secretOf } from '../../../functions/environment/connect/connector.ts';
import { userLogins } from '../../../functions/environment/user-logins.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';

const BEFORE = { read: 'r', tail: 't', write: 'w', repair: 'x', move: 'm' };
const SECRETS: NonNullable<GroupAddress['userSecrets']> = { ...BEFORE, erase: 'e' };
const endpoint = { host: 'db', port: 3306 };
const groupWith = (userSecrets: object): GroupAddress => ({
  name: 'group-1',
  writer: endpoint,
  reader: endpoint,
  nodes: [endpoint],
  sharedStorage: true,
  clusterArn: 'arn',
  secret: 's',
  userSecrets: userSecrets as typeof SECRETS,
});

/** The password of each secret is its name again. */
const client = {
  send: async ({ input }: GetSecretValueCommand) => ({
    SecretString: JSON.stringify({ username: 'any', password: `of ${input.SecretId}` }),
  }),
} as unknown as Pick<SecretsManagerClient, 'send'>;

describe('a user that came later than a group was last deployed', () => {
  it('has no password yet, and keeps nobody else from having one', async () => {
    const login = (password: string) => ({ username: 'any', password });
    const logins = {
      read: login('of r'),
      tail: login('of t'),
      write: login('of w'),
      repair: login('of x'),
      move: login('of m'),
    };
    expect(await userLogins('secret', client)(groupWith(SECRETS))).toEqual({ ...logins, erase: login('of e') });
    for (const secrets of [BEFORE, { ...BEFORE, erase: '' }])
      expect(await userLogins('secret', client)(groupWith(secrets))).toEqual(logins);
  });

  it('has a token, as all have, where IAM vouches for them', async () => {
    const none = { send: () => expect.unreachable() };
    expect(new Set(Object.values(await userLogins('iam', none)(groupWith({}))))).toEqual(new Set(['token']));
  });

  it('cannot log in there, and everybody else can', () => {
    for (const secrets of [BEFORE, { ...BEFORE, erase: '' }]) {
      expect(secretOf(groupWith(secrets), 'write')).toBe('w');
      expect(() => secretOf(groupWith(secrets), 'erase')).toThrow(
        'group-1: wanted a secret of schemaless_erase, which the next migration makes, got none',
      );
    }
    expect(secretOf(groupWith(SECRETS), 'erase')).toBe('e');
  });
});
