import { createReadStream } from 'node:fs';
import { parseJson } from '../../../shared/body/json.ts';
import { LIMITS, type Json } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { badUsage, CommandError } from '../command-error.ts';

/** Spaces count, so that text may be a little longer than what the API takes. */
const MOST_BYTES = 4 * LIMITS.bodyBytes;

/** Reads a body: JSON, `@file`, or `-` for standard input. Throws a CommandError, `invalid_json`, `body_too_large`. */
export async function readBody(given: string): Promise<Json> {
  return parseJson(await readText(given));
}

async function readText(given: string): Promise<string> {
  if (given === '-') {
    if (process.stdin.isTTY)
      throw badUsage('body', 'JSON, @FILE, or JSON on standard input', 'a terminal', "Give it: '{…}', or @FILE");
    return collect(process.stdin, 'standard input');
  }
  if (!given.startsWith('@')) return given;
  const file = given.slice(1);
  try {
    return await collect(createReadStream(file), file);
  } catch (error) {
    if (error instanceof SchemalessError) throw error;
    throw new CommandError(`body: ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      ending: 'usage',
      cause: error,
    });
  }
}

async function collect(stream: AsyncIterable<unknown>, from: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > MOST_BYTES) {
      const [wanted, got] = [`at most ${LIMITS.bodyBytes} bytes of JSON`, `more than ${MOST_BYTES} bytes of ${from}`];
      throw new SchemalessError('body_too_large', `body: wanted ${wanted}, got ${got}`, { field: 'body', wanted, got });
    }
  }
  const whole = Buffer.concat(chunks);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(whole);
  } catch {
    const [wanted, got] = ['UTF-8', 'other bytes'];
    throw new SchemalessError('invalid_json', `body: wanted ${wanted}, got ${got} in ${from}`, {
      field: 'body',
      wanted,
      got,
    });
  }
}
