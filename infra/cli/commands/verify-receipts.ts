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
    .argument('<file>', 'records as NDJSON or a list, as --format ndjson and json print them, or one as JSON')
    .option('--key <file>', 'what `schemaless erasures key` printed as JSON (default: the API is asked for it)')
    .option('--allow-unsigned', 'records that are done may have no signature')
    .addHelpText(
      'after',
      `${examples(
        ['schemaless erasures verify erasures.ndjson --key key.json', 'without any connection'],
        ['schemaless erasures verify forgotten.ndjson', 'by the key that the deployment has now'],
      )}

Prints how many are right, and the line (of a list: the place, from 1) of each that was changed, that another key signed,
or that is done and has no signature. Ends with 8 where there is one. Erasures that are not done have no signature yet;
one that could not be signed when it was asked for can be asked for again.`,
    )
    .action(
      action<[file: string], { readonly key?: string; readonly allowUnsigned?: true }>(
        async (session, [file], flags) => {
          const records = readRecords(file);
          const key = flags.key === undefined ? await (await session.subjects()).receiptKey() : readKey(flags.key);
          const counts = { right: 0, unsigned: 0, wrong: 0 };
          const wrong: { readonly line: number; readonly why: string }[] = [];
          for (const { line, record } of records) {
            const verdict = verifyReceipt(record, key);
            counts[verdict === 'right' || verdict === 'unsigned' ? verdict : 'wrong'] += 1;
            if (verdict === 'changed') wrong.push({ line, why: 'it is not what was signed' });
            if (verdict === 'other_key') wrong.push({ line, why: `the key ${record.signature?.key_id} signed it` });
            if (verdict === 'unsigned' && flags.allowUnsigned !== true && !isOpen(record))
              wrong.push({ line, why: 'it is done, and has no signature' });
          }
          await session.output.record({ ...counts, key_id: key.key_id, lines: wrong });
          return wrong.length > 0 ? 'differs' : 'ok';
        },
      ),
    );
}

/** `schemaless erasures key`. */
export function showReceiptKey(): Command {
  return new Command('key')
    .description('shows the public half of the key that signs the records: to be kept elsewhere')
    .addHelpText('after', examples(['schemaless erasures key --format json > key.json', 'kept']))
    .action(action<[]>(async (session) => session.output.record(await (await session.subjects()).receiptKey())));
}

/** A record as a file has it. */
type Kept = Receipt & { readonly state?: unknown; readonly forgotten_at?: unknown };

/** Only an erasure that goes on is not signed yet. */
const isOpen = ({ state, forgotten_at }: Kept): boolean => state === 'erasing' && forgotten_at === undefined;

interface KeptLine {
  /** From 1; in a list its place. */
  readonly line: number;
  readonly record: Kept;
}

/** Throws a CommandError. */
function readRecords(path: string): readonly KeptLine[] {
  const text = readText('file', path);
  const whole = parse(text);
  if (whole !== undefined)
    return [whole].flat().map((record, position) => toKept(record, `record ${position + 1} of ${path}`, position + 1));
  return text
    .split('\n')
    .flatMap((line, position) =>
      line.trim() === '' ? [] : [toKept(parse(line), `line ${position + 1} of ${path}`, position + 1)],
    );
}

/** Throws a CommandError. */
function toKept(value: unknown, what: string, line: number): KeptLine {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { line, record: value as Kept };
  throw badUsage('file', 'records as JSON, one a line or in one list', what);
}

/** Throws a CommandError. */
function readKey(path: string): ReceiptKey {
  const { key_id, public_key } = Object(parse(readText('--key', path))) as Partial<ReceiptKey>;
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

/** Undefined where a text is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
