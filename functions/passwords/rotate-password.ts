import { randomInt } from 'node:crypto';
import { otherName } from '../../shared/topology/database-users.ts';
import type { SecretLogin, SecretVersions } from './secret-versions.ts';
import { DescribeDBClustersCommand, ModifyDBClusterCommand, type RDSClient } from '@aws-sdk/client-rds';
import { setTimeout as sleep } from 'node:timers/promises';
import { passwordStatements } from '../../shared/migrate/create-users.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';

/** The steps of a rotation in Secrets Manager; each may be repeated. */
export const ROTATION_STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'] as const;
type RotationStep = (typeof ROTATION_STEPS)[number];

/** A place where a secret's login is valid. */
interface LoginPlace {
  /** Sets the password of this name. May be repeated. */
  set(login: SecretLogin): Promise<void>;
  /** Resolves once the password is valid; rejects after a time. */
  untilSet(): Promise<void>;
  /** Logs in with the secret's current version. */
  logIn(): Promise<void>;
}

export interface RotatedLogin {
  /** `alternating`: the other name gets the next password, the old one stays valid. `single`: the old one ends. */
  readonly kind: 'alternating' | 'single';
  readonly places: readonly LoginPlace[];
}

/**
 * Runs one step of a rotation.
 *
 * - `createSecret`: makes a version with a new password
 * - `setSecret`: sets it on the servers
 * - `testSecret`: waits until it is valid
 * - `finishSecret`: makes it current, and reverts if a server rejects it
 *
 * Secrets Manager also calls `testSecret` alone, when a rotation is configured: before the first migration, and with a
 * version without a password. It then does nothing.
 *
 * `login`: undefined for an unknown secret. Throws the error that stops a step: no login changes, and the step may be
 * repeated.
 */
export async function rotatePassword(
  step: RotationStep,
  secret: SecretVersions,
  version: string,
  login: RotatedLogin | undefined,
): Promise<void> {
  const isTest = step === 'testSecret';
  if (!login) {
    if (isTest) return;
    throw new Error(`${secret.secret}: wanted a secret of a group's user, got one of no user`);
  }
  const { kind, places } = login;
  if (step === 'createSecret') {
    if (await secret.pending(version)) return;
    const current = await secret.current();
    const username = kind === 'alternating' ? otherName(current.username) : current.username;
    await secret.addPending(version, { ...current, username, password: newPassword() });
    return;
  }
  const next = await secret.pending(version);
  if (!next && isTest) return;
  if (!next) throw new Error(`${secret.secret}: wanted a version ${version} with a password, got none`);
  if (step === 'setSecret') {
    await Promise.all(places.map((place) => place.set(next)));
  } else if (isTest) {
    await Promise.all(places.map((place) => place.untilSet()));
  } else {
    const before = await secret.promote(version);
    try {
      await Promise.all(places.map((place) => place.logIn()));
    } catch (error) {
      if (kind === 'alternating' && before !== undefined) await secret.promote(before);
      throw error;
    }
  }
}

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const CHARACTERS = 40;

/** 238 bits; the statement that creates users accepts letters and digits. */
function newPassword(): string {
  return Array.from({ length: CHARACTERS }, () => LETTERS_AND_DIGITS.charAt(randomInt(LETTERS_AND_DIGITS.length))).join(
    '',
  );
}

interface LoginPlaces {
  readonly groups: readonly GroupAddress[];
  readonly rds: Pick<RDSClient, 'send'>;
  readonly connect: (group: GroupAddress, secret: string) => SqlClient;
  /** The interval between polls of a cluster, in ms. @default 5000 */
  readonly pollEveryMs?: number;
}

/** Four minutes with pauses of 5 s. */
const POLLS = 48;

/**
 * Finds whose login a secret holds. A migrated user has two names, whose passwords the servers' owner sets. RDS sets
 * the owner's password without a login, so an interrupted rotation can continue.
 * Undefined for an unknown secret.
 */
export function rotatedLogin(secret: string, given: LoginPlaces): RotatedLogin | undefined {
  const { groups, connect } = given;
  const logIn = (group: GroupAddress) => async (): Promise<void> => {
    await connect(group, secret).select({ sql: 'SELECT 1', parameters: [] }, 'writer');
  };
  const owned = groups.find((group) => group.secret === secret);
  if (owned) return { kind: 'single', places: [{ ...ownersPlace(owned, given), logIn: logIn(owned) }] };
  const used = groups.filter(({ userSecrets = {} }) => Object.values(userSecrets).includes(secret));
  if (used.length === 0) return undefined;
  return {
    kind: 'alternating',
    places: used.map((group) => ({
      async set({ username, password }) {
        const owner = connect(group, group.secret);
        for (const sql of passwordStatements(username, password)) await owner.change({ sql, parameters: [] });
      },
      // Statements take effect at once.
      untilSet: async () => undefined,
      logIn: logIn(group),
    })),
  };
}

function ownersPlace(
  { clusterArn }: GroupAddress,
  { rds, pollEveryMs = 5000 }: LoginPlaces,
): Omit<LoginPlace, 'logIn'> {
  // arn:aws:rds:REGION:ACCOUNT:cluster:NAME
  const cluster = clusterArn.slice(clusterArn.lastIndexOf(':') + 1);
  return {
    async set({ password }) {
      await rds.send(
        new ModifyDBClusterCommand({
          DBClusterIdentifier: cluster,
          MasterUserPassword: password,
          ApplyImmediately: true,
        }),
      );
    },
    async untilSet() {
      for (let poll = 0; poll < POLLS; poll += 1) {
        // RDS reports a pending change after a moment.
        await sleep(pollEveryMs);
        const { DBClusters: [found] = [] } = await rds.send(
          new DescribeDBClustersCommand({ DBClusterIdentifier: cluster }),
        );
        if (found?.Status === 'available' && found.PendingModifiedValues?.MasterUserPassword === undefined) return;
      }
      throw new Error(`${cluster}: wanted its new password to be valid, got a change that is still pending`);
    },
  };
}
