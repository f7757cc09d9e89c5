import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnSecret, Secret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct, IConstruct } from 'constructs';
import { MADE_USERS, userName, type MadeUser } from '../../shared/topology/database-users.ts';
import { acknowledge } from './evidence.ts';

interface UserSecretProps {
  readonly prefix: string;
  readonly encryptionKey?: IKey | undefined;
  /** Survive their stack, as the clusters do. */
  readonly isRetained: boolean;
}

/** Secrets of functions without token logins. */
export type UserSecrets = Readonly<Record<MadeUser, ISecret>>;

/** Makes a secret for each user, shared by all groups; the migration makes the users. */
export function userSecrets(scope: Construct, props: UserSecretProps): UserSecrets {
  return Object.fromEntries(
    MADE_USERS.map((user): readonly [MadeUser, ISecret] => [user, makeSecret(scope, user, props)]),
  ) as UserSecrets;
}

/** The prefix of all the store's secrets, see `shortenSecretName`. */
export function secretNames(prefix: string): string {
  return `${prefix}group`;
}

function makeSecret(scope: Construct, user: MadeUser, { prefix, encryptionKey, isRetained }: UserSecretProps): ISecret {
  const secret = new Secret(scope, `user-${user}`, {
    description: `Schemaless: ${userName(user)} of all groups`,
    ...(encryptionKey && { encryptionKey }),
    // The statement that makes a user takes no bound value, so letters and digits only.
    generateSecretString: {
      secretStringTemplate: JSON.stringify({ username: userName(user) }),
      generateStringKey: 'password',
      passwordLength: 40,
      excludePunctuation: true,
    },
  });
  if (isRetained) secret.applyRemovalPolicy(RemovalPolicy.RETAIN);
  shortenSecretName(secret.node.defaultChild, prefix, `groups-${user}`);
  // exactOptionalPropertyTypes conflicts with the library's types.
  return secret as ISecret;
}

/** For stores without password rotation. */
export function acknowledgeUnrotated(secret: IConstruct): void {
  acknowledge(
    secret,
    'SMG4',
    'Changed by whoever owns the store, as its options say: functions ask for the secret again once its password does not hold any more',
  );
}

/** The RDS Data API takes ARNs of 100 characters, and names from logical ids are longer. */
export function shortenSecretName(secret: IConstruct | undefined, prefix: string, name: string): void {
  if (!(secret instanceof CfnSecret)) throw new Error(`${name}: wanted a secret, got ${String(secret)}`);
  secret.overrideLogicalId(`${prefix}${name.replaceAll(/[^a-z0-9]/gu, '')}`);
}
