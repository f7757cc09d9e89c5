/** `npm run capacity -- [WRITES …]`: the tables of `infra/docs/operations/capacity.md`, also for rates of one's own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { tables, withTables } from './document.ts';
import { RATES } from './load.ts';

const DOCUMENT = new URL('../docs/operations/capacity.md', import.meta.url);

function readRate(text: string, before: readonly number[] = []): readonly number[] {
  const rate = Number(text);
  if (!Number.isFinite(rate) || rate < 0) throw new InvalidArgumentError(`Wanted a number from 0, got ${text}.`);
  return [...before, rate];
}

const command = new Command('npm run capacity --')
  .description(
    'What a load on prod needs of AWS, what it costs, also in other databases, and which limits it exceeds. The assumptions are in infra/capacity/assumptions.ts.',
  )
  .addArgument(
    new Argument(
      '[writes...]',
      `cells written each second, a column for each rate (default: ${RATES.join(' ')})`,
    ).argParser(readRate),
  )
  .option('--write', 'put the tables for the default rates into infra/docs/operations/capacity.md')
  .showHelpAfterError('(--help lists what there is)')
  .parse();
const given = command.processedArgs[0] as readonly number[];

if (command.opts<{ write?: boolean }>().write) {
  if (given.length > 0) command.error(`error: --write: wanted no rates beside it, got ${given.join(' ')}`);
  writeFileSync(DOCUMENT, withTables(readFileSync(DOCUMENT, 'utf8')));
} else {
  const { needs, cost, elsewhere, limits } = tables(given.length > 0 ? given : RATES);
  process.stdout.write(`${[needs, cost, elsewhere, limits].join('\n\n')}\n`);
}
