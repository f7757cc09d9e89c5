import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnSecret, Secret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct, type IConstruct } from 'constructs';
import { MADE_USERS, userName, type MadeUser, type StoreUser } from '../../shared/topology/database-users.ts';
import { acknowledge } from './evidence.ts';

export interface UserSecretProps {
  /** What the names of its secrets begin with. */
  readonly prefix: string;
  /** @default a key of Secrets Manager's own */
  readonly encryptionKey?: IKey | undefined;
  /** They stay when their stack goes, as the clusters do. */
  readonly isRetained: boolean;
}

export interface UserSecretsProps extends UserSecretProps {
  /** `group-1` */
  readonly group: string;
  readonly shared: StoreSecrets;
}

/** What those log in with who have one secret for all groups, as `storeSecrets` makes them. */
export type StoreSecrets = Readonly<Record<StoreUser, ISecret>>;

/** A secret with a password for each user that the functions log in to a group as; the migration makes the users. */
export class UserSecrets extends Construct {
  readonly secrets: Readonly<Record<MadeUser, ISecret>>;

  constructor(scope: Construct, id: string, { group, shared, ...props }: UserSecretsProps) {
    super(scope, id);
    const given: Readonly<Partial<Record<MadeUser, ISecret>>> = shared;
    const made = MADE_USERS.map((user): readonly [MadeUser, ISecret] => [
      user,
      given[user] ?? makeSecret(this, user, { ...props, user, of: group }),
    ]);
    this.secrets = Object.fromEntries(made) as Record<MadeUser, ISecret>;
  }
}

/** The secrets of `STORE_USERS`: one each for all groups of a store. */
export function storeSecrets(scope: Construct, props: UserSecretProps): StoreSecrets {
  const make = (id: string, user: StoreUser): ISecret => makeSecret(scope, id, { ...props, user, of: ALL });
  return { move: make('mover', 'move'), erase: make('eraser', 'erase') };
}

/** Names of secrets begin alike, see `allowStore` of the network. */
const ALL = 'groups';

interface MadeSecret extends UserSecretProps {
  readonly user: MadeUser;
  /** Whose user: `group-1`, or `ALL`. */
  readonly of: string;
}

function makeSecret(scope: Construct, id: string, made: MadeSecret): ISecret {
  const { user, of, prefix, encryptionKey, isRetained } = made;
  const secret = new Secret(scope, id, {
    description: `Schemaless: ${userName(user)} of ${of === ALL ? 'all groups' : of}`,
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
  shortenSecretName(secret.node.defaultChild, prefix, `${of}-${user}`);
  acknowledge(
    secret,
    'SMG4',
    'Rotated by the owner, with whatever is used for that: the next migration gives the user its new password, and functions ask for the secret again once theirs does not hold any more',
  );
  // The compiler's exactOptionalPropertyTypes finds the library's class at odds with its own interface.
  return secret as ISecret;
}

/**
 * The RDS Data API takes ARNs of 100 characters at most. A secret is named after its logical id, which the CDK makes so
 * long that in some regions its ARN is not taken.
 */
export function shortenSecretName(secret: IConstruct | undefined, prefix: string, name: string): void {
  if (!(secret instanceof CfnSecret)) throw new Error(`${name}: wanted a secret, got ${String(secret)}`);
  secret.overrideLogicalId(`${prefix}${name.replaceAll(/[^a-z0-9]/gu, '')}`);
}
