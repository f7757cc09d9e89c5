import { RemovalPolicy } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from './evidence.ts';
import { grantSecretKey } from './key-uses.ts';
import { shortenSecretName } from './user-secrets.ts';

interface RootKeyProps {
  readonly prefix: string;
  readonly encryptionKey?: IKey | undefined;
  /** Survives its stack. */
  readonly isRetained: boolean;
}

/**
 * The root of all keys in the table `keys`: a secret encrypted by KMS. **Never change `generateSecretString` or the logical
 * id**: the text would be regenerated, and sealed fields lost.
 */
export class RootKey extends Construct {
  private readonly secret: Secret;
  private readonly key: IKey | undefined;

  constructor(scope: Construct, id: string, { prefix, encryptionKey, isRetained }: RootKeyProps) {
    super(scope, id);
    const removalPolicy = isRetained ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
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
      removalPolicy,
    });
    shortenSecretName(this.secret.node.defaultChild, prefix, 'rootkey');
    acknowledge(
      this.secret,
      'SMG4',
      'Another value opens nothing that was sealed: an operator rotates it, by a command that wraps all keys anew',
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
