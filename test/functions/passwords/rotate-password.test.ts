import type { RDSDataClient } from '@aws-sdk/client-rds-data';
import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { secretCredentials } from '../../../functions/environment/credentials.ts';
import {
  ROTATION_STEPS,
  rotatePassword,
  type RotatedLogin,
  rotatedLogin,
} from '../../../functions/passwords/rotate-password.ts';
import { SecretVersions } from '../../../functions/passwords/secret-versions.ts';
import { startDataApi, type DataApi } from '../../../infra/local/data-api/data-api.ts';
import { createUsers, passwordStatements } from '../../../shared/migrate/create-users.ts';
import { stepControl } from '../../../shared/migrate/steps.ts';
import { dataApiClient } from '../../../shared/sql/data-api-client.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { otherName, userName, type MadeUser } from '../../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { clientTo } from '../../support/connection-to.ts';
import { dataApiSdk } from '../../support/data-api-sdk.ts';
import { PATIENT } from '../../support/store-access.ts';
import { until } from '../../support/until.ts';
import { versionedSecrets, type VersionedSecrets } from '../support/versioned-secrets.ts';

// Of groups whose users no other file makes.
const servers = inject('servers').groups.slice(1, 3);
const READS = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:Secretgroupsread';
const OF = (user: MadeUser): string => READS.replace('read', user);
const SELECT = { sql: 'SELECT COUNT(*) FROM schemaless.shard', parameters: [] };
const password = (): string => randomBytes(15).toString('hex');

let secrets: VersionedSecrets;
let api: DataApi;
let sdk: RDSDataClient;
let groups: readonly GroupAddress[];

const overDataApi = ({ clusterArn }: GroupAddress, secretArn: string): SqlClient =>
  dataApiClient(sdk, { resourceArn: clusterArn, secretArn });
const anyLogin = (secret: string): RotatedLogin | undefined =>
  rotatedLogin(secret, { groups, rds: { send: () => expect.unreachable() }, connect: overDataApi });
function loginOf(secret: string): RotatedLogin {
  const login = anyLogin(secret);
  if (!login) throw new Error(`wanted a secret of a user, got ${secret}`);
  return login;
}

/** All steps of one rotation, as Secrets Manager asks for them. */
async function rotate(secret: string, login = loginOf(secret), version = randomUUID()): Promise<void> {
  for (const step of ROTATION_STEPS)
    await rotatePassword(step, new SecretVersions(secrets.client, secret), version, login);
}

beforeAll(async () => {
  secrets = versionedSecrets();
  api = await startDataApi({
    login: (resourceArn, secretArn) => {
      const { username: user, password } = JSON.parse(secrets.current(secretArn));
      const server = servers.find(({ clusterArn }) => clusterArn === resourceArn);
      return server && { ...server.writer, user, password };
    },
  });
  sdk = dataApiSdk(api.url);
});
afterAll(async () => {
  sdk.destroy();
  await api.stop();
});

beforeEach(async () => {
  groups = servers.map((server) => ({ ...server, userSecrets: { ...NOBODYS, read: READS } }));
  for (const { secret, user, password: of } of servers) secrets.add(secret, { username: user, password: of });
  const login = { username: userName('read'), password: password() };
  secrets.add(READS, login);
  for (const server of servers) {
    const owner = clientTo(server);
    await stepControl(owner);
    await createUsers(owner, { read: login }, []);
    await owner.close();
  }
});
afterEach(async () => {
  for (const server of servers) {
    const owner = clientTo(server);
    for (const name of [userName('read'), otherName(userName('read'))])
      await owner.change({ sql: `DROP USER IF EXISTS '${name}'@'%'`, parameters: [] });
    await owner.close();
  }
});

const NOBODYS = { read: '', tail: '', write: '', repair: '', move: '', erase: '' };

const ROUNDS = 4;
/** A secret that was read is known for 10 s. */
const KNOWN_MS = 10_000;

/**
 * Requests of functions that log in all the time, and of some that stay, while something is done.
 *
 * @param work may wait until each worker has sent a request from beginning to end, by default once what it knew of the
 *   secret is too old
 * @returns why requests failed, of each that did
 */
async function underLoad(
  work: (everyoneAsked: (laterMs?: number) => Promise<void>) => Promise<void>,
): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  const over = new AbortController();
  const ask = (client: SqlClient): Promise<unknown> =>
    client.select(SELECT, 'writer').catch((error: unknown) => failures.push(error));
  let elapsed = 0;
  const now = (): number => elapsed;
  const overMysql = (group: GroupAddress): SqlClient =>
    mysqlClient(group, secretCredentials(secrets.client, READS, now), PATIENT);
  const stays = groups.map((group) => {
    const login = secretCredentials(secrets.client, READS, now);
    return async (): Promise<void> => {
      // Another pool for each of its requests, as where connections come and go, with what it knows of the secret.
      const client = mysqlClient(group, login, PATIENT);
      await ask(client);
      await client.close();
    };
  });
  const comes = groups.map((group) => async (): Promise<void> => {
    const client = overMysql(group);
    await ask(client);
    await client.close();
  });
  const pooled = groups.map(overMysql);
  const workers = [
    ...stays,
    ...comes,
    ...pooled.map((client) => () => ask(client)),
    ...groups.map((group) => () => ask(overDataApi(group, READS))),
  ];
  const asked = workers.map(() => 0);
  const ended = Promise.all(
    workers.map(async (work, worker) => {
      while (!over.signal.aborted) {
        await work();
        asked[worker] = (asked[worker] ?? 0) + 1;
        await setImmediate();
      }
    }),
  );
  try {
    await work(async (laterMs = KNOWN_MS) => {
      elapsed += laterMs;
      const before = [...asked];
      // Two more: the one that was under way began earlier.
      await until('every worker has asked', () => asked.every((times, worker) => times >= (before[worker] ?? 0) + 2));
    });
  } finally {
    over.abort();
    await ended;
    await Promise.all(pooled.map((client) => client.close()));
  }
  return failures;
}

describe('a new password', () => {
  it('of a user that functions log in as fails no request, again and again', async () => {
    const failures = await underLoad(async (everyoneAsked) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await rotate(READS);
        await everyoneAsked();
      }
    });
    expect(failures).toEqual([]);
    expect(JSON.parse(secrets.current(READS)).username).toBe(userName('read'));
  });

  it('fails requests where the user has one name: what the load would show', async () => {
    const single: RotatedLogin = { ...loginOf(READS), kind: 'single' };
    const failures = await underLoad(async (everyoneAsked) => {
      await everyoneAsked();
      await rotate(READS, single);
      await everyoneAsked(0);
    });
    expect(failures.length).toBeGreaterThan(0);
  });

  it('holds after each step that was asked for again, and the last one holds until the next', async () => {
    const before = JSON.parse(secrets.current(READS));
    const version = randomUUID();
    for (const step of ROTATION_STEPS)
      for (let time = 0; time < 2; time += 1)
        await rotatePassword(step, new SecretVersions(secrets.client, READS), version, loginOf(READS));
    const after = JSON.parse(secrets.current(READS));
    expect(after).toMatchObject({ username: otherName(before.username), password: expect.stringMatching(/^\w{40}$/u) });
    for (const login of [before, after])
      for (const group of groups) {
        const client = mysqlClient(group, async () => login, PATIENT);
        await expect(client.select(SELECT, 'writer')).resolves.toHaveLength(1);
        await client.close();
      }
  });

  it('is not taken where one group does not have it: the last one holds on all of them', async () => {
    const before = secrets.current(READS);
    const login = loginOf(READS);
    const [first, second] = login.places;
    if (!first || !second) throw new Error('wanted two places');
    const unavailable: RotatedLogin = { ...login, places: [first, { ...second, set: async () => {} }] };
    await expect(rotate(READS, unavailable)).rejects.toThrow(/denied/u);
    expect(secrets.current(READS)).toBe(before);
    const broken: RotatedLogin = {
      ...login,
      places: [first, { ...second, set: () => Promise.reject(new Error('unavailable')) }],
    };
    await expect(rotate(READS, broken)).rejects.toThrow('unavailable');
    expect(secrets.current(READS)).toBe(before);
    for (const group of groups) await overDataApi(group, READS).select(SELECT, 'writer');
  });

  it('is for the secret of a user, and for no other', async () => {
    const [other, login] = [OF('write'), anyLogin(OF('write'))];
    const step = (name: (typeof ROTATION_STEPS)[number]) =>
      rotatePassword(name, new SecretVersions(secrets.client, other), randomUUID(), login);
    for (const name of ROTATION_STEPS.filter((one) => one !== 'testSecret'))
      await expect(step(name)).rejects.toThrow(`${other}: wanted a secret of a group's user, got one of no user`);
    // Secrets Manager tests a new rotation before the first migration, when no group is known.
    await expect(step('testSecret')).resolves.toBeUndefined();
  });

  it('needs none for the test of a new rotation, whose version has no value', async () => {
    const before = secrets.current(READS);
    const step = (name: 'setSecret' | 'testSecret') =>
      rotatePassword(name, new SecretVersions(secrets.client, READS), randomUUID(), loginOf(READS));
    await expect(step('testSecret')).resolves.toBeUndefined();
    await expect(step('setSecret')).rejects.toThrow('with a password, got none');
    expect(secrets.current(READS)).toBe(before);
  });
});

describe("a new password of a cluster's owner", () => {
  const name = `owner_${randomBytes(4).toString('hex')}`;
  const [server] = servers;
  if (!server) throw new Error('no group');
  const SECRET = `${server.secret}-owner`;

  it('is given by RDS, waited for, and gone on with after the function was cut off', async () => {
    const owner = clientTo(server);
    const old = password();
    for (const sql of passwordStatements(name, old)) await owner.change({ sql, parameters: [] });
    secrets.add(SECRET, { username: name, password: old, engine: 'mysql' });
    groups = [{ ...server, secret: SECRET }];
    let polls = 0;
    const asked: unknown[] = [];
    const rds = {
      // RDS sets the password of a cluster's owner asynchronously.
      send: async ({ input }: { readonly input: { readonly MasterUserPassword?: string } }) => {
        asked.push(Object.keys(input));
        if (input.MasterUserPassword === undefined) {
          polls += 1;
          return {
            DBClusters: [
              polls < 3
                ? { Status: 'resetting-master-credentials' }
                : { Status: 'available', PendingModifiedValues: {} },
            ],
          };
        }
        const [, alter] = passwordStatements(name, input.MasterUserPassword);
        await owner.change({ sql: alter, parameters: [] });
        return {};
      },
    };
    const login = rotatedLogin(SECRET, { groups, rds: rds as never, connect: overDataApi, pollEveryMs: 10 });
    const versions = new SecretVersions(secrets.client, SECRET);
    const version = randomUUID();
    await rotatePassword('createSecret', versions, version, login);
    await rotatePassword('setSecret', versions, version, login);
    // Cut off here: the server has a password that the secret does not say yet.
    await expect(
      overDataApi(groups[0] as GroupAddress, SECRET).select({ sql: 'SELECT 1', parameters: [] }, 'writer'),
    ).rejects.toThrow(/denied/u);
    for (const step of ROTATION_STEPS) await rotatePassword(step, versions, version, login);
    expect(polls).toBe(3);
    expect(JSON.parse(secrets.current(SECRET))).toMatchObject({ username: name, engine: 'mysql' });
    await expect(
      overDataApi(groups[0] as GroupAddress, SECRET).select({ sql: 'SELECT 1', parameters: [] }, 'writer'),
    ).resolves.toHaveLength(1);
    await owner.change({ sql: `DROP USER '${name}'@'%'`, parameters: [] });
    await owner.close();
  });
});
