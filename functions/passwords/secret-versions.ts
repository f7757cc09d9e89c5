import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  UpdateSecretVersionStageCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { secretMembers } from '../environment/secret-members.ts';

const CURRENT = 'AWSCURRENT';
const PENDING = 'AWSPENDING';

/** Keeps other members of a secret, such as its cluster. */
const LOGIN = z.looseObject({ username: z.string().min(1), password: z.string().min(1) });
export type SecretLogin = z.infer<typeof LOGIN>;

/** A secret's current and pending version. */
export class SecretVersions {
  private readonly client: Pick<SecretsManagerClient, 'send'>;
  readonly secret: string;

  constructor(client: Pick<SecretsManagerClient, 'send'>, secret: string) {
    this.client = client;
    this.secret = secret;
  }

  async current(): Promise<SecretLogin> {
    const { SecretString } = await this.client.send(
      new GetSecretValueCommand({ SecretId: this.secret, VersionStage: CURRENT }),
    );
    return this.parse(SecretString);
  }

  /** Returns undefined for a missing version or one without a value. */
  async pending(version: string): Promise<SecretLogin | undefined> {
    try {
      const { SecretString } = await this.client.send(
        new GetSecretValueCommand({ SecretId: this.secret, VersionId: version }),
      );
      return this.parse(SecretString);
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  }

  async addPending(version: string, login: SecretLogin): Promise<void> {
    await this.client.send(
      new PutSecretValueCommand({
        SecretId: this.secret,
        ClientRequestToken: version,
        SecretString: JSON.stringify(login),
        VersionStages: [PENDING],
      }),
    );
  }

  /** Makes a version current. Returns the former one, undefined if it is this one. */
  async promote(version: string): Promise<string | undefined> {
    const { VersionIdsToStages: versions = {} } = await this.client.send(
      new DescribeSecretCommand({ SecretId: this.secret }),
    );
    const [before] = Object.entries(versions).find(([, stages]) => stages.includes(CURRENT)) ?? [];
    if (before === version) return undefined;
    await this.client.send(
      new UpdateSecretVersionStageCommand({
        SecretId: this.secret,
        VersionStage: CURRENT,
        MoveToVersionId: version,
        ...(before !== undefined && { RemoveFromVersionId: before }),
      }),
    );
    return before;
  }

  private parse(text: string | undefined): SecretLogin {
    const login = LOGIN.safeParse(secretMembers(text));
    if (!login.success) throw new Error(`${this.secret}: wanted JSON with the strings username and password`);
    return login.data;
  }
}
