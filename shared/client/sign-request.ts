import { Sha256 } from '@aws-crypto/sha256-js';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { SignatureV4 } from '@smithy/signature-v4';
import type { ClientOptions } from './options.ts';

export type Sign = NonNullable<ClientOptions['sign']>;

/** Signs requests to the HTTP API with AWS Signature Version 4. Credentials are the process's by default. */
export function requestSigner(
  region: string,
  credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'] = defaultProvider(),
): Sign {
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: Sha256 });
  return async ({ method, url, headers, body }) => {
    const query = Object.fromEntries(
      [...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name)]),
    );
    const signed = await signer.sign({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query,
      headers: { ...headers, host: url.host },
      ...(body === undefined ? {} : { body }),
    });
    // fetch names the host itself.
    const { host: _host, ...rest } = signed.headers;
    return rest;
  };
}
