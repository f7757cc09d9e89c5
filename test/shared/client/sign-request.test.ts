import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { requestSigner } from '../../../shared/client/sign-request.ts';

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'token',
};
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Computes the signature of a request's canonical lines as the documentation of Signature Version 4 does.
 */
function signatureOf(lines: readonly string[], time: string, body: string): string {
  const canonical = [...lines, sha256(body)].join('\n');
  const scope = `${time.slice(0, 8)}/eu-west-1/execute-api/aws4_request`;
  const key = ['eu-west-1', 'execute-api', 'aws4_request'].reduce(
    (before, part) => hmac(before, part),
    hmac(`AWS4${CREDENTIALS.secretAccessKey}`, time.slice(0, 8)),
  );
  return hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
}

describe('a signed request', () => {
  it('carries the signature of its method, path, query, headers and body, and the session', async () => {
    const body = '{"cells":[]}';
    const url = new URL('https://api.example.com/v1/trips/cells/1/FARE%20ADJUSTMENT?read=reader&column=B&column=A');
    const headers = await requestSigner(
      'eu-west-1',
      CREDENTIALS,
    )({ method: 'POST', url, headers: { 'content-type': 'application/json' }, body });
    const time = headers['x-amz-date'] ?? '';
    const signed = 'content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token';
    const signature = signatureOf(
      [
        'POST',
        // Encoded twice, as for all services but S3.
        '/v1/trips/cells/1/FARE%2520ADJUSTMENT',
        'column=A&column=B&read=reader',
        'content-type:application/json',
        'host:api.example.com',
        `x-amz-content-sha256:${sha256(body)}`,
        `x-amz-date:${time}`,
        'x-amz-security-token:token',
        '',
        signed,
      ],
      time,
      body,
    );
    expect(headers['authorization']).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${time.slice(0, 8)}/eu-west-1/execute-api/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
    );
    expect(headers['x-amz-security-token']).toBe('token');
    expect(headers).not.toHaveProperty('host');
  });

  it('gets a new signature each time', async () => {
    let asked = 0;
    const sign = requestSigner(
      'eu-west-1',
      async () => ((asked += 1), { ...CREDENTIALS, accessKeyId: `AKID${asked}`, expiration: new Date(0) }),
    );
    const request = { method: 'GET', url: new URL('https://api.example.com/v1/health'), headers: {}, body: undefined };
    expect((await sign(request))['authorization']).toContain('Credential=AKID1/');
    expect((await sign(request))['authorization']).toContain('Credential=AKID2/');
  });
});
