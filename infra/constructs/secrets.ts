import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnSecret, Secret, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { type IConstruct, Construct } from 'constructs';
import { ofMadeUsers, userName, type MadeUser } from '../../shared/topology/database-users.ts';
import { acknowledge } from './evidence.ts';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { removalOf } from './kept-log.ts';
import { grantSecretKey } from './key-uses.ts';
import type { StorageParts } from './storage-parts.ts';

/** Secrets of functions without token logins. */
export type UserSecrets = Readonly<Record<MadeUser, ISecret>>;

/** Makes a secret for each user, shared by all groups; the migration makes the users. */
export function userSecrets(scope: Construct, storage: StorageParts): UserSecrets {
  return ofMadeUsers((user) => makeSecret(scope, user, storage));
}

/** The prefix of all the store's secrets, see `shortenSecretName`. */
export function secretNames(prefix: string): string {
  return `${prefix}group`;
}

function makeSecret(scope: Construct, user: MadeUser, { prefix, encryptionKey, environment }: StorageParts): ISecret {
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
    // It survives its stack, as the clusters do.
    removalPolicy: removalOf(environment),
  });
  shortenSecretName(secret.node.defaultChild, prefix, `groups-${user}`);
  // exactOptionalPropertyTypes conflicts with the library's types.
  return secret as ISecret;
}

/** For stores without password rotation. */
export function acknowledgeUnrotated(secret: IConstruct): void {
  acknowledge(
    secret,
    'SMG4',
    'The owner of the store rotates it, as its options say: functions read the secret again when its password stops working',
  );
}

/** The RDS Data API takes ARNs of 100 characters, and names from logical ids are longer. */
export function shortenSecretName(secret: IConstruct | undefined, prefix: string, name: string): void {
  if (!(secret instanceof CfnSecret)) throw new Error(`${name}: wanted a secret, got ${String(secret)}`);
  secret.overrideLogicalId(`${prefix}${name.replaceAll(/[^a-z0-9]/gu, '')}`);
}

/**
 * The root of all keys in the table `keys`: a secret encrypted by KMS. **Never change `generateSecretString` or the
 * logical
 * id**: the text would be regenerated, and sealed fields lost.
 */
export class RootKey extends Construct {
  private readonly secret: Secret;
  private readonly key: IKey | undefined;

  constructor(scope: Construct, id: string, { prefix, encryptionKey, environment }: StorageParts) {
    super(scope, id);
    this.key = encryptionKey;
    this.secret = new Secret(this, 'secret', {
      description: 'Schemaless: the root key of sealed fields. Change it only as infra/docs/forgetting.md says',
      ...(encryptionKey && { encryptionKey }),
      // 64 of 62 characters: 381 bits.
      generateSecretString: {
        secretStringTemplate: '{}',
        generateStringKey: 'key',
        passwordLength: 64,
        excludePunctuation: true,
      },
      removalPolicy: removalOf(environment),
    });
    shortenSecretName(this.secret.node.defaultChild, prefix, 'rootkey');
    acknowledge(
      this.secret,
      'SMG4',
      'Another value opens nothing that was sealed: an operator rotates it, by a command that wraps all keys again',
    );
  }

  get secretArn(): string {
    return this.secret.secretArn;
  }

  grantRead(grantee: IGrantable): void {
    this.secret.grantRead(grantee);
    grantSecretKey(grantee, this.key, 'read');
  }
}
