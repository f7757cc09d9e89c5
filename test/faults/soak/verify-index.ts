import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { lookUntil } from '../../support/look-until.ts';

const VERIFY = fileURLToPath(new URL('../../../infra/local/commands/verify-index.ts', import.meta.url));
const LINE =
  /: (?<rows>\d+) rows, (?<entries>\d+) entries: (?<missing>\d+) missing, (?<extra>\d+) extra, (?<wrong>\d+) wrong/u;
const AGAIN_MS = 2000;

/** An index held against its cells. */
export interface IndexVerdict {
  readonly rows: number;
  readonly entries: number;
  /** Missing, extra or wrong. */
  readonly problems: number;
}

/** Runs `npm run verify-index` on a stack's data folder. @param flags further ones */
export async function verifyOnce(data: string, index: string, ...flags: readonly string[]): Promise<IndexVerdict> {
  const child = spawn(process.execPath, [VERIFY, index, '--data', data, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  const counted = LINE.exec(said)?.groups;
  if (!counted) throw new Error(`verify-index said: ${said}`);
  const count = (name: string): number => Number(counted[name]);
  return {
    rows: count('rows'),
    entries: count('entries'),
    problems: count('missing') + count('extra') + count('wrong'),
  };
}

/** Again until nothing is wrong, as long as there is time: what a failure kept from the index the repair brings. */
export async function verifyInTheEnd(
  data: string,
  index: string,
  patienceMs: number,
  signal: AbortSignal,
): Promise<IndexVerdict> {
  const isClean = ({ problems }: IndexVerdict): boolean => problems === 0;
  return await lookUntil(() => verifyOnce(data, index), isClean, { pollMs: AGAIN_MS, patienceMs, signal });
}
