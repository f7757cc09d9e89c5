import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { parseColumnName, parseRowKey } from '../../../shared/address.ts';
import { parseJson } from '../../../shared/body/json.ts';
import { LIMITS, type Json, type PutResult } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import { badUsage, CommandError, type Ending } from '../errors.ts';
import { printable } from '../output/text.ts';

export const ENDINGS: Readonly<Record<PutResult['outcome'], readonly [Ending, note?: string]>> = {
  stored: ['ok'],
  stored_before: ['ok'],
  buffered: ['ok', 'buffered on other groups, and not readable until its primary is back'],
  conflict: ['conflict', 'another body is at this address, and cells never change: write a higher ref key'],
  erased: ['conflict', 'this address, or its whole column or row, was erased permanently: it accepts no writes'],
  subject_forgotten: ['conflict', 'its subject was forgotten permanently, and has fields sealed under its key'],
  unavailable: ['unavailable', 'not confirmed'],
};

export function put(): Command {
  return command('put')
    .description('write one cell; repeating it is safe, for `new` and `next` only with the printed keys')
    .argument('<row-key>', 'a UUID; `new` makes one')
    .argument('<column>', 'its name')
    .argument('<ref-key>', 'its version, 0 to 2^53-1; `next` uses the one after the latest')
    .argument('[body]', 'JSON, @FILE, or - for standard input', '-')
    .examples(
      [`schemaless put new BASE 1 '{"city": "Lisbon"}'`, 'a new row'],
      ['schemaless put 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE 2 @trip.json', 'a correction, of a file'],
      ['jq .trip day.json | schemaless put new BASE 1', 'of standard input'],
      [`schemaless put 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 NOTES next '{"rating": 5}'`, 'the next ref key'],
    )
    .run<[rowKey: string, column: string, refKey: string, body: string]>(async (session, parameters) => {
      const [rowKey, column, refKey, given] = parameters;
      const row_key = rowKey === 'new' ? randomUUID() : parseRowKey(rowKey);
      const column_name = parseColumnName(column);
      const ref_key = refKey === 'next' ? undefined : readRefKey(refKey);
      const body = await readBody(given);
      const client = await session.connect();
      const {
        outcome,
        ref_key: taken,
        ...more
      } = await client.tryPut({
        row_key,
        column_name,
        body,
        ...(ref_key !== undefined && { ref_key }),
      });
      await session.output.record({ outcome, row_key, column_name, ref_key: taken, ...more });
      const [ending, note] = ENDINGS[outcome];
      if (note !== undefined) session.note(`${outcome}: ${note}`);
      if (outcome === 'unavailable')
        session.note(`repeat it, with the same body, as: schemaless put ${row_key} ${quoted(column_name)} ${taken}`);
      return ending;
    });
}

function quoted(name: string): string {
  return /^[\w.-]+$/u.test(name) ? name : `'${printable(name).replaceAll("'", `'\\''`)}'`;
}

export function readRefKey(text: string): number {
  const value = Number(text);
  if (/^\d{1,16}$/u.test(text) && value <= LIMITS.refKey) return value;
  throw badUsage('ref-key', 'an integer from 0 to 2^53-1', JSON.stringify(text.slice(0, 60)));
}

/** Text with spaces may be longer than the body that the API accepts. */
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
