import type { Command } from 'commander';
import { parseColumnName, parseRowKey } from '../../../shared/address.ts';
import type { Erasure } from '../../../shared/api/erasures.ts';
import { LIMITS } from '../../../shared/cell.ts';
import type { ApiClient } from '../../../shared/client/api-client.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { pauseFor } from '../../../shared/pause-for.ts';
import { command } from '../cli.ts';
import { badUsage, type Ending } from '../errors.ts';
import { wholeNumberFlag } from '../flags.ts';
import { printable } from '../output/text.ts';
import type { Session } from '../session.ts';

interface EraseFlags {
  readonly refKey?: number;
  readonly upTo?: number;
  readonly reason: string;
  /** Seconds. */
  readonly wait: number;
  readonly yes?: true;
}

type ErasureRequest = Parameters<ApiClient['eraseCells']>[0];

const POLL_MS = 1000;

export function erase(): Command {
  return command('erase')
    .description('erase a row, a column, versions or one cell permanently: the addresses accept no more writes')
    .argument('<row-key>', 'a UUID')
    .argument('[column]', 'its name (default: the whole row)')
    .addOption(wholeNumberFlag('--ref-key <ref-key>', 'only one version', 0, LIMITS.refKey).conflicts('upTo'))
    .addOption(wholeNumberFlag('--up-to <ref-key>', 'that version and all before it', 0, LIMITS.refKey))
    .requiredOption('--reason <text>', 'stored permanently and shown: write no personal data')
    .addOption(wholeNumberFlag('--wait <seconds>', 'how long to wait until it is done everywhere', 0, 3600).default(30))
    .option('--yes', 'without asking')
    .examples(
      [`schemaless erase 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 --reason 'request 4711'`, 'the whole row'],
      [`schemaless erase 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 NOTES --reason 'request 4711'`, 'a column of it'],
      [
        `schemaless erase 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE --up-to 3 --reason 'request 4711'`,
        'its versions so far: version 4 can be written',
      ],
      [
        `schemaless erase 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE --ref-key 2 --reason 'a slip' --yes`,
        'one version, without confirmation',
      ],
    )
    .notes(`Prints the record of the erasure. Ends with 5 if it is not done everywhere after --wait, as while a group is unavailable:
it is recorded, and continues automatically; the same command, or \`schemaless erasure ID\`, shows its progress.`)
    .run<[rowKey: string, column: string | undefined], EraseFlags>(async (session, [rowKey, column], flags) => {
      const target = readTarget(rowKey, column, flags);
      if (!(await session.confirmed(`Erase ${textOf(target)} forever?`, flags.yes, 'nothing was erased'))) return 'ok';
      return eraseAndWait(session, target, flags.wait);
    });
}

function readTarget(rowKey: string, column: string | undefined, { refKey, upTo, reason }: EraseFlags): ErasureRequest {
  const row_key = parseRowKey(rowKey);
  if (column !== undefined)
    return {
      row_key,
      column_name: parseColumnName(column),
      ...(refKey !== undefined && { ref_key: refKey }),
      ...(upTo !== undefined && { up_to: upTo }),
      reason,
    };
  const version = refKey === undefined ? '--up-to' : '--ref-key';
  if (refKey !== undefined || upTo !== undefined) throw badUsage('column', `the one that ${version} is of`, 'none');
  return { row_key, reason };
}

function textOf({ row_key, column_name, ref_key, up_to }: ErasureRequest): string {
  if (column_name === undefined) return `the whole row ${row_key}`;
  const versions = up_to === undefined ? 'all versions' : `the versions up to ${up_to}`;
  return `${ref_key === undefined ? versions : `version ${ref_key}`} of ${printable(column_name)} of row ${row_key}`;
}

async function eraseAndWait(session: Session, target: ErasureRequest, seconds: number): Promise<Ending> {
  const { signal, afterwards } = session.untilInterrupted();
  const api = await session.api({ signal: afterwards });
  const seen = await untilErased(api, await api.eraseCells(target), seconds, signal);
  await session.output.record(seen);
  if (seen.state === 'erased') return 'ok';
  session.note(`it is recorded, and continues automatically: ${seen.waits_for ?? 'not everywhere yet'}`);
  return signal.aborted ? 'interrupted' : 'unavailable';
}

async function untilErased(
  api: Pick<ApiClient, 'getErasure'>,
  asked: Erasure,
  seconds: number,
  signal: AbortSignal,
): Promise<Erasure> {
  const end = performance.now() + seconds * 1000;
  let seen = asked;
  while (seen.state === 'erasing' && performance.now() < end && !signal.aborted) {
    await pauseFor(Math.min(POLL_MS, end - performance.now()), signal);
    try {
      seen = await api.getErasure({ erasure: seen.id });
    } catch (error) {
      // The erasure is recorded in any case.
      if (!(error instanceof SchemalessError) || error.retry === 'never') throw error;
    }
  }
  return seen;
}
