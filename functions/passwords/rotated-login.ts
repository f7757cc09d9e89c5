import { DescribeDBClustersCommand, ModifyDBClusterCommand, type RDSClient } from '@aws-sdk/client-rds';
import { setTimeout as sleep } from 'node:timers/promises';
import { passwordStatements } from '../../shared/migrate/create-users.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import type { LoginPlace, RotatedLogin } from './rotate-password.ts';

interface LoginPlaces {
  readonly groups: readonly GroupAddress[];
  readonly rds: Pick<RDSClient, 'send'>;
  readonly connect: (group: GroupAddress, secret: string) => SqlClient;
  /** Between two polls of a cluster, in ms. @default 5000 */
  readonly lookEveryMs?: number;
}

/** Four minutes with pauses of 5 s. */
const LOOKS = 48;

/**
 * Finds whose login a secret holds. A migrated user has two names, whose passwords the servers' owner sets. RDS sets
 * the owner's password without a login, so an interrupted rotation can continue.
 * Throws an Error that names an unknown secret.
 */
export function rotatedLogin(secret: string, given: LoginPlaces): RotatedLogin {
  const { groups, connect } = given;
  const logIn = (group: GroupAddress) => async (): Promise<void> => {
    await connect(group, secret).select({ sql: 'SELECT 1', parameters: [] }, 'writer');
  };
  const owned = groups.find((group) => group.secret === secret);
  if (owned) return { kind: 'single', places: [{ ...ownersPlace(owned, given), logIn: logIn(owned) }] };
  const used = groups.filter(({ userSecrets = {} }) => Object.values(userSecrets).includes(secret));
  if (used.length === 0) throw new Error(`${secret}: wanted a secret of a group's user, got one of nobody`);
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
  { rds, lookEveryMs = 5000 }: LoginPlaces,
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
      for (let look = 0; look < LOOKS; look += 1) {
        // RDS reports a pending change after a moment.
        await sleep(lookEveryMs);
        const { DBClusters: [found] = [] } = await rds.send(
          new DescribeDBClustersCommand({ DBClusterIdentifier: cluster }),
        );
        if (found?.Status === 'available' && found.PendingModifiedValues?.MasterUserPassword === undefined) return;
      }
      throw new Error(`${cluster}: wanted it to have taken its new password, got one that is still changing`);
    },
  };
}
