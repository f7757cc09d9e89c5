import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { qualityOf } from './accepts.ts';

/** What is smaller goes in few packets as it is, and is written sooner than compressed. */
export const COMPRESSED_FROM_BYTES = 8192;
/** Of JSON a tenth is left at the lowest level, and little less at others, which take several times as long. */
const LEVEL = constants.Z_BEST_SPEED;

const compress = promisify(gzip);

/**
 * The answer in gzip, where `Accept-Encoding` names it, and it is JSON of some length. MessagePack is for programs that
 * want to be fast, and goes as it is.
 */
export async function compressed(
  result: APIGatewayProxyStructuredResultV2,
  acceptEncoding: string | undefined,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { body = '', headers = {}, isBase64Encoded = false } = result;
  // Who answered has chosen between two forms itself.
  const isChosen = String(headers['vary']).includes('accept-encoding');
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/u.test(String(headers['content-type']));
  if (!isJson || isChosen || body.length < COMPRESSED_FROM_BYTES) return result;
  const vary = { vary: headers['vary'] === undefined ? 'accept-encoding' : `${headers['vary']}, accept-encoding` };
  if (qualityOf(acceptEncoding, ['gzip']) === 0) return { ...result, headers: { ...headers, ...vary } };
  const bytes = await compress(isBase64Encoded ? Buffer.from(body, 'base64') : body, { level: LEVEL });
  return {
    ...result,
    headers: { ...headers, ...vary, 'content-encoding': 'gzip' },
    body: bytes.toString('base64'),
    isBase64Encoded: true,
  };
}
