import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import { secretCredentials } from '../../../functions/environment/credentials.ts';

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
    const both = await Promise.all([credentials(), credentials()]);
    expect(both).toEqual([
      { username: 'store', password: 'old' },
      { username: 'store', password: 'old' },
    ]);
    expect(asked()).toBe(1);
    now = 10_000;
    expect(await credentials()).toMatchObject({ password: 'new' });
  });

  it('that could not be had are looked up again', async () => {
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
