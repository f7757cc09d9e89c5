import { defaultProvider } from './lambda-credentials.ts';
import { presignedAddress } from './sign.ts';

interface SignerConfig {
  readonly hostname: string;
  readonly port: number;
  readonly username: string;
  readonly region?: string;
  readonly credentials?: ReturnType<typeof defaultProvider>;
}

/** RDS accepts a token for this time. */
const SECONDS = 900;
/** All tokens share one, which keeps credentials until they expire. */
const provider = defaultProvider();

/** Replaces `@aws-sdk/rds-signer` in the bundles: tokens by which a user of MySQL logs in. */
export class Signer {
  readonly #config: SignerConfig;

  constructor(config: SignerConfig) {
    this.#config = config;
  }

  getAuthToken(): Promise<string> {
    const { hostname, port, username, region = process.env['AWS_REGION'] ?? '' } = this.#config;
    const { credentials = provider } = this.#config;
    return presignedAddress(
      { service: 'rds-db', region, credentials },
      { host: `${hostname}:${port}`, query: { Action: 'connect', DBUser: username }, seconds: SECONDS },
    );
  }
}
