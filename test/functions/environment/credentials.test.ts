import type { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import { secretOf } from '../../../functions/environment/connect/connector.ts';
import { secretCredentials, userLogins } from '../../../functions/environment/credentials.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';

/** Answers the values in turn, the last one again and again; undefined fails. */
function secrets(...values: (string | undefined)[]): {
  client: Pick<SecretsManagerClient, 'send'>;
  asked: () => number;
} {
  let asked = 0;
  const send = async (): Promise<{ SecretString: string }> => {
    const value = values[Math.min(asked, values.length - 1)];
    asked += 1;
    if (value === undefined) throw new Error('throttled');
    return { SecretString: value };
  };
  return { client: { send } as unknown as Pick<SecretsManagerClient, 'send'>, asked: () => asked };
}

const login = (password: string): string => JSON.stringify({ username: 'store', password, engine: 'mysql' });

describe('credentials', () => {
  it('are looked up once for calls close together, and again later', async () => {
    const { client, asked } = secrets(login('old'), login('new'));
    let now = 0;
    const credentials = secretCredentials(client, 'group-1', () => now);
    expect(await Promise.all([credentials(), credentials()])).toEqual([
      { username: 'store', password: 'old' },
      { username: 'store', password: 'old' },
    ]);
    expect(asked()).toBe(1);
    now = 10_000;
    expect(await credentials()).toMatchObject({ password: 'new' });
  });

  it('that were not available are looked up again', async () => {
    const { client } = secrets(undefined, login('a'));
    const credentials = secretCredentials(client, 'group-1', () => 0);
    await expect(credentials()).rejects.toThrow('throttled');
    expect(await credentials()).toMatchObject({ password: 'a' });
  });

  it.each(['{"username":"store","password":7}', 'hunter2', 'null', ''])(
    'of another form are refused by the name of the secret alone',
    async (value) => {
      const error: unknown = await secretCredentials(secrets(value).client, 'arn:group-1')().catch(
        (thrown: unknown) => thrown,
      );
      expect(String(error)).toContain('arn:group-1');
      expect(String(error)).not.toContain('hunter2');
    },
  );
});

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

describe('the users of a group', () => {
  it('log in by their secrets', async () => {
    const client = {
      send: async ({ input }: GetSecretValueCommand) => ({ SecretString: login(`of ${input.SecretId}`) }),
    } as unknown as Pick<SecretsManagerClient, 'send'>;
    expect(await userLogins('secret', client)(groupWith(SECRETS))).toEqual(
      Object.fromEntries(
        Object.entries(SECRETS).map(([user, secret]) => [user, { username: 'store', password: `of ${secret}` }]),
      ),
    );
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
