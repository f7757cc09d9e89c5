/** `npm run bench -- NAME …`: measures what has a bar, and holds it against it. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { wishedEngine, type EngineKind } from '../../infra/setup/engine.mjs';
import { textTable } from '../demo/text-table.ts';
import { onInterrupt } from '../faults/interrupt.ts';
import { endProcessesOn } from '../faults/leftovers.ts';
import type { Bench, Measured } from './bench.ts';
import { coldBench } from './cold.ts';
import { idleBench } from './idle.ts';
import { shardsBench } from './shards.ts';
import { storeBench } from './store-speed.ts';

const BENCHES: readonly Bench[] = [storeBench, shardsBench, idleBench, coldBench];

const command = new Command('npm run bench --')
  .description('Measures a store started for this.')
  .addArgument(new Argument('[names...]', 'what to measure (default: all)').choices(BENCHES.map(({ name }) => name)))
  .addOption(new Option('--engine <name>', 'mysql or mariadb (default: SCHEMALESS_ENGINE, else MySQL if it is on the machine, else MariaDB)').choices(['mysql', 'mariadb']))
  .addOption(new Option('--seed <text>', 'makes the same choices again (default: a new one, printed)'))
  .addHelpText('after', `\nWhat there is:\n${BENCHES.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join('\n')}`)
  .showHelpAfterError('(--help lists what there is)')
  .parse();
const names = command.processedArgs[0] as readonly string[];
const { engine = wishedEngine([], process.env), seed = String(Math.floor(Math.random() * 1_000_000)) } = command.opts<{ engine?: EngineKind; seed?: string }>();

const folders = new Set<string>();
const clear = (folder: string): void => {
  endProcessesOn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
};
const signal = onInterrupt(() => folders.forEach(clear));

const measured: Measured[] = [];
let broken = 0;
for (const bench of BENCHES.filter(({ name }) => names.length === 0 || names.includes(name))) {
  if (signal.aborted) break;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `schemaless-bench-${bench.name}-`)));
  folders.add(folder);
  console.log(`${bench.name}: ${bench.what} (seed ${seed})`);
  try {
    measured.push(...(await bench.measure({ engine, seed, folder, signal, say: (line) => console.log(`  ${line}`) })).measured);
  } catch (error) {
    broken += 1;
    console.error(signal.aborted ? `${bench.name}: stopped` : error);
  } finally {
    clear(folder);
    folders.delete(folder);
  }
}
if (signal.aborted) process.exit(130);
const rows = measured.map(({ what, figure, bar, passed, engine: on }) => [what, figure, bar, passed ? 'PASS' : 'FAIL', seed, on]);
for (const line of textTable([['what', 'figure', 'bar', 'verdict', 'seed', 'engine'], ...rows])) console.log(line);
process.exit(broken === 0 && measured.every(({ passed }) => passed) ? 0 : 1);
