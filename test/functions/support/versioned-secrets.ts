import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  UpdateSecretVersionStageCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';

/** Secrets with versions, as Secrets Manager keeps them, without the service. */
export interface VersionedSecrets {
  readonly client: Pick<SecretsManagerClient, 'send'>;
  /** A secret with one version, which holds. */
  add(secret: string, value: object): void;
  /** The text that holds. */
  current(secret: string): string;
}

interface Kept {
  readonly texts: Map<string, string>;
  readonly versions: Map<string, string>;
}

export function versionedSecrets(): VersionedSecrets {
  const kept = new Map<string, Kept>();
  const of = (secret = ''): Kept => kept.get(secret) ?? notFound();
  const textOf = ({ texts }: Kept, version = ''): string => texts.get(version) ?? notFound();

  async function send(command: unknown): Promise<object> {
    if (command instanceof GetSecretValueCommand) {
      const { SecretId, VersionId, VersionStage = 'AWSCURRENT' } = command.input;
      const secret = of(SecretId);
      return { SecretString: textOf(secret, VersionId ?? secret.versions.get(VersionStage)) };
    }
    if (command instanceof PutSecretValueCommand) {
      const { SecretId, ClientRequestToken = '', SecretString = '', VersionStages = [] } = command.input;
      const secret = of(SecretId);
      secret.texts.set(ClientRequestToken, SecretString);
      for (const stage of VersionStages) secret.versions.set(stage, ClientRequestToken);
      return {};
    }
    if (command instanceof DescribeSecretCommand) {
      const { versions } = of(command.input.SecretId);
      const VersionIdsToStages: Record<string, string[]> = {};
      for (const [stage, version] of versions) (VersionIdsToStages[version] ??= []).push(stage);
      return { VersionIdsToStages };
    }
    if (command instanceof UpdateSecretVersionStageCommand) {
      const { SecretId, MoveToVersionId = '', RemoveFromVersionId } = command.input;
      const { versions } = of(SecretId);
      if (versions.get('AWSCURRENT') !== RemoveFromVersionId) throw new Error('another version holds the stage');
      versions.set('AWSCURRENT', MoveToVersionId);
      return {};
    }
    throw new Error('not known here');
  }

  return {
    client: { send } as unknown as Pick<SecretsManagerClient, 'send'>,
    add: (secret, value) =>
      kept.set(secret, {
        texts: new Map([['first', JSON.stringify(value)]]),
        versions: new Map([['AWSCURRENT', 'first']]),
      }),
    current: (secret) => textOf(of(secret), of(secret).versions.get('AWSCURRENT')),
  };
}

function notFound(): never {
  throw new ResourceNotFoundException({ message: 'no such secret or version', $metadata: {} });
}
