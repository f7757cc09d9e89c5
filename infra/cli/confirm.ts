import { createInterface } from 'node:readline/promises';
import { badUsage } from './errors.ts';

/** Asks at the terminal, unless `yes` is set. Throws a CommandError without a terminal. */
export async function confirmed(question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY) throw badUsage('--yes', 'it, since there is nobody to ask', 'nothing');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  return /^y(es)?$/iu.test(answer.trim());
}
