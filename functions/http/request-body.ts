import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { parseJson } from '../../shared/body/json.ts';
import { LIMITS, type Json } from '../../shared/cell.ts';
import { missingField, SchemalessError } from '../../shared/errors.ts';

// A byte order mark is kept, for the parser to refuse.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The body of a request, as JSON.
 *
 * @param depth deepest nesting of arrays and objects; LIMITS.bodyDepth when left out
 * @throws SchemalessError `request_too_large`, `missing_field`, `invalid_json`
 */
export function readJsonBody(
  event: Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>,
  depth: number = LIMITS.bodyDepth,
): Json {
  const { body = '', isBase64Encoded } = event;
  // Base64 takes four characters for three bytes: an estimate that is never too high, so nothing huge is decoded.
  const leastBytes = isBase64Encoded ? Math.floor(body.length / 4) * 3 - 2 : Buffer.byteLength(body);
  if (leastBytes > LIMITS.requestBytes) throw requestTooLarge(leastBytes);
  const text = isBase64Encoded ? decode(Buffer.from(body, 'base64')) : body;
  if (text === '') throw missingField('body', 'one JSON value');
  return parseJson(text, { maxDepth: depth });
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > LIMITS.requestBytes) throw requestTooLarge(bytes.length);
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    const wanted = 'JSON in UTF-8';
    const got = 'bytes that are not UTF-8';
    throw new SchemalessError('invalid_json', `body: wanted ${wanted}, got ${got}`, {
      field: 'body',
      wanted,
      got,
      cause,
    });
  }
}

function requestTooLarge(bytes: number): SchemalessError {
  const wanted = `at most ${LIMITS.requestBytes} bytes`;
  const got = `${bytes} bytes`;
  return new SchemalessError('request_too_large', `body: wanted ${wanted}, got ${got}`, { field: 'body', wanted, got });
}
