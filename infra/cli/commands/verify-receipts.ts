import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { verifyReceipt, type Receipt } from '../../../shared/client/receipts.ts';
import type { ReceiptKey } from '../../../shared/contract/subject-operations.ts';
import { action, examples } from '../cli.ts';
import { badUsage } from '../command-error.ts';

/** `schemaless erasures verify`. */
export function verifyReceipts(): Command {
  return new Command('verify')
    .description('verifies the signatures of records, of erasures and of forgotten subjects, by a key that was kept')
    .argument('<file>', 'records as NDJSON, as --format ndjson prints them, or one as JSON')
    .option('--key <file>', 'what `schemaless erasures key` printed as JSON (default: the API is asked for it)')
    .addHelpText(
      'after',
      `${examples(
        ['schemaless erasures verify erasures.ndjson --key key.json', 'without any connection'],
        ['schemaless erasures verify forgotten.ndjson', 'by the key that the deployment has now'],
      )}

Prints how many are right, and the line of each that was changed, or that another key signed. Ends with 8 where there is
one. Records that are not done have no signature.`,
    )
    .action(
      action<[file: string], { readonly key?: string }>(async (session, [file], flags) => {
        const records = readRecords(file);
        const key = flags.key === undefined ? await (await session.subjects()).receiptKey() : readKey(flags.key);
        const counts = { right: 0, unsigned: 0, wrong: 0 };
        const wrong: { readonly line: number; readonly why: string }[] = [];
        for (const { line, record } of records) {
          const verdict = verifyReceipt(record, key);
          counts[verdict === 'right' || verdict === 'unsigned' ? verdict : 'wrong'] += 1;
          if (verdict === 'changed') wrong.push({ line, why: 'it is not what was signed' });
          if (verdict === 'other_key') wrong.push({ line, why: `the key ${record.signature?.key_id} signed it` });
        }
        await session.output.record({ ...counts, key_id: key.key_id, lines: wrong });
        return wrong.length > 0 ? 'differs' : 'ok';
      }),
    );
}

/** `schemaless erasures key`. */
export function showReceiptKey(): Command {
  return new Command('key')
    .description('shows the public half of the key that signs the records: to be kept elsewhere')
    .addHelpText('after', examples(['schemaless erasures key --format json > key.json', 'kept']))
    .action(action<[]>(async (session) => session.output.record(await (await session.subjects()).receiptKey())));
}

/** Throws a CommandError. */
function readRecords(path: string): readonly { readonly line: number; readonly record: Receipt }[] {
  const text = readText('file', path);
  const whole = parse(text);
  if (whole !== undefined) return [{ line: 1, record: whole }];
  return text.split('\n').flatMap((line, position) => {
    if (line.trim() === '') return [];
    const record = parse(line);
    if (!record) throw badUsage('file', 'records as JSON, one a line', `line ${position + 1} of ${path}`);
    return [{ line: position + 1, record }];
  });
}

/** Throws a CommandError. */
function readKey(path: string): ReceiptKey {
  const { key_id, public_key } = parse<Partial<ReceiptKey>>(readText('--key', path)) ?? {};
  if (typeof key_id !== 'string' || typeof public_key !== 'string')
    throw badUsage('--key', 'what `schemaless erasures key --format json` printed', path);
  return { algorithm: 'Ed25519', key_id, public_key };
}

function readText(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw badUsage(what, 'a file', `${path}, which cannot be read`);
  }
}

/** Undefined where a text is no JSON object. */
function parse<T = Receipt>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
