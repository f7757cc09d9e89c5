import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnSecret, Secret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct, IConstruct } from 'constructs';
import { MADE_USERS, userName, type MadeUser } from '../../shared/topology/database-users.ts';
import { acknowledge } from './evidence.ts';

interface UserSecretProps {
  /** What the names of its secrets begin with. */
  readonly prefix: string;
  /** @default a key of Secrets Manager's own */
  readonly encryptionKey?: IKey | undefined;
  /** They stay when their stack goes, as the clusters do. */
  readonly isRetained: boolean;
}

/** By what functions log in where tokens do not. */
export type UserSecrets = Readonly<Record<MadeUser, ISecret>>;

/** A secret for each user that functions log in as, the same on all groups of a store; the migration makes the users. */
export function userSecrets(scope: Construct, props: UserSecretProps): UserSecrets {
  return Object.fromEntries(
    MADE_USERS.map((user): readonly [MadeUser, ISecret] => [user, makeSecret(scope, user, props)]),
  ) as UserSecrets;
}

/** What the names of all secrets of a store begin with, those of the groups' owners, too: see `shortenSecretName`. */
export function secretNames(prefix: string): string {
  return `${prefix}group`;
}

function makeSecret(scope: Construct, user: MadeUser, { prefix, encryptionKey, isRetained }: UserSecretProps): ISecret {
  const secret = new Secret(scope, `user-${user}`, {
    description: `Schemaless: ${userName(user)} of all groups`,
    ...(encryptionKey && { encryptionKey }),
    // Letters and digits: the statement that makes a user takes no bound value.
    generateSecretString: {
      secretStringTemplate: JSON.stringify({ username: userName(user) }),
      generateStringKey: 'password',
      passwordLength: 40,
      excludePunctuation: true,
    },
  });
  if (isRetained) secret.applyRemovalPolicy(RemovalPolicy.RETAIN);
  shortenSecretName(secret.node.defaultChild, prefix, `groups-${user}`);
  // The compiler's exactOptionalPropertyTypes finds the library's class at odds with its own interface.
  return secret as ISecret;
}

/** Where nobody changes the passwords of a store by itself. */
export function acknowledgeUnrotated(secret: IConstruct): void {
  acknowledge(
    secret,
    'SMG4',
    'Changed by whoever owns the store, as its options say: functions ask for the secret again once its password does not hold any more',
  );
}

/**
 * The RDS Data API takes ARNs of 100 characters at most. A secret is named after its logical id, which the CDK makes so
 * long that in some regions its ARN is not taken.
 */
export function shortenSecretName(secret: IConstruct | undefined, prefix: string, name: string): void {
  if (!(secret instanceof CfnSecret)) throw new Error(`${name}: wanted a secret, got ${String(secret)}`);
  secret.overrideLogicalId(`${prefix}${name.replaceAll(/[^a-z0-9]/gu, '')}`);
}
