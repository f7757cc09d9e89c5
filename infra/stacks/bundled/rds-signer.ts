import { presignedAddress } from './sign.ts';
import type { defaultProvider } from './lambda-credentials.ts';

interface SignerConfig {
  readonly hostname: string;
  readonly port: number;
  readonly username: string;
  readonly region?: string;
  readonly credentials?: ReturnType<typeof defaultProvider>;
}

/** A token holds for so long, as RDS wants it. */
const SECONDS = 900;

/** Replaces `@aws-sdk/rds-signer` in the bundles: tokens by which a user of MySQL logs in. */
export class Signer {
  readonly #config: SignerConfig;

  constructor(config: SignerConfig) {
    this.#config = config;
  }

  getAuthToken(): Promise<string> {
    const { hostname, port, username, region = process.env['AWS_REGION'] ?? '', credentials } = this.#config;
    return presignedAddress(
      { service: 'rds-db', region, ...(credentials && { credentials }) },
      { host: `${hostname}:${port}`, query: { Action: 'connect', DBUser: username }, seconds: SECONDS },
    );
  }
}
