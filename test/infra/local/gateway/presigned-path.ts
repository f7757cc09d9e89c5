import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

interface Presigning {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Path and query of a URL with a signature for a GET of it, as AWS's own signer makes it. */
export async function presignedPath(
  text: string,
  credentials: Presigning,
  { method = 'GET', expiresIn = 60, signingDate = new Date() } = {},
): Promise<string> {
  const url = new URL(text);
  const signer = new SignatureV4({ service: 'execute-api', region: 'eu-west-1', credentials, sha256: Sha256 });
  const { query = {} } = await signer.presign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host },
    },
    { expiresIn, signingDate },
  );
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `${url.pathname}?${pairs.join('&')}`;
}
