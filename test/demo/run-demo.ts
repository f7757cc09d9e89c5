import type { Role } from '../../shared/cell.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { BillWatch, TRIGGER } from '../support/billing/bill-watch.ts';
import { grouped, textTable } from '../support/text-table.ts';
import { tripStream } from '../support/trips/trip.ts';
import { checkBills } from './check-bills.ts';
import { checkIndex } from './check-index.ts';
import { checkLogs } from './check-logs.ts';
import { Differences } from './differences.ts';
import { showModelTrips } from './model-trips.ts';
import { checkVersions, columnsOf, readBack } from './read-back.ts';
import type { DemoClient } from './recheck.ts';
import { writeCells, type Acknowledged } from './write.ts';

const PATIENCE_MS = 30_000;
const BILLING_PATIENCE_MS = 60_000;

export interface DemoRun {
  readonly store: DemoClient;
  readonly trips: number;
  readonly seed: string;
  /** Whether any group has a reader to read back from. */
  readonly readers: boolean;
  /** How long cells may take to appear on readers, and buffered ones at all. @default 30 s */
  readonly patienceMs?: number;
  /** How long no trip may be billed while some wait, also after a failure. @default 60 s */
  readonly billingPatienceMs?: number;
  /** How often an unconfirmed cell is sent. @default as `writeCells` does */
  readonly tries?: number;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/**
 * Writes two model trips and then many more. Waits until the trigger has billed them. Reads every cell back by address,
 * as latest, as a version, and from the logs, from writers and from readers. Prints the results. Returns how many
 * checks failed.
 */
export async function runDemo(run: DemoRun): Promise<number> {
  const { store, trips, seed, readers, tries, signal, print } = run;
  const { patienceMs = PATIENCE_MS, billingPatienceMs = BILLING_PATIENCE_MS } = run;
  const differences = new Differences();
  const checking = { store, differences, patienceMs, tries, signal };
  const printAll = (lines: readonly string[]): void => {
    for (const line of lines) print(line === '' ? '' : `  ${line}`);
    print('');
  };
  const billing = (await hasTrigger(store))
    ? new BillWatch({ store, patienceMs: billingPatienceMs, signal })
    : undefined;
  print(
    'Two trips, as the rows and versions they are: a row for each trip, cells that never change, a higher ref key for what is newer.\n',
  );
  printAll(await showModelTrips({ ...checking, billedWithinMs: billing && billingPatienceMs }));

  print(
    `Now ${grouped(trips)} trips: writing their cells${billing ? ', which a trigger bills meanwhile' : ''}, then reading every one back.\n`,
  );
  const cells = [...tripStream({ seed, trips })];
  const start = performance.now();
  const written = await writeCells(cells, checking);
  const seconds = (performance.now() - start) / 1000;
  if (billing) {
    for (const cell of written.keys()) if (cell.column_name === 'BASE') billing.acknowledged(cell);
    const [first, ...others] = await billing.finish();
    if (first !== undefined)
      differences.fail(TRIGGER, `${others.length + 1} trips are not billed, ${first} for one; ${await stateOf(store)}`);
  }

  const columns = columnsOf(cells, written);
  const latest = columns.flatMap((column) => column.at(-1) ?? []);
  const bases = latest.filter(({ column_name }) => column_name === 'BASE');
  const acknowledged = [...written.keys()];
  const ofReaders = async (count: () => Promise<number>): Promise<string> => (readers ? grouped(await count()) : '-');
  const back = (read: Role): Promise<number> => readBack(acknowledged, written, { ...checking, read });
  const rows: (readonly [what: string, count: string, more: string])[] = [
    ['trips', grouped(trips), ''],
    ['cells written', grouped(cells.length), outcomesOf(written)],
    ['cells per second', grouped(cells.length / Math.max(0.001, seconds)), `in ${seconds.toFixed(1)} s`],
    ['equal from writers', grouped(await back('writer')), 'every cell by its address'],
    ['equal from readers', await ofReaders(() => back('reader')), readers ? 'once caught up' : 'no reader runs'],
    [
      'equal latest cells',
      grouped(await readBack(latest, written, { ...checking, latest: true })),
      'of each column of each row',
    ],
    [
      'equal version lists',
      grouped(
        await checkVersions(
          columns.filter(({ length }) => length > 1),
          checking,
        ),
      ),
      'of columns with several cells',
    ],
    ['found in the logs', grouped(await checkLogs(written, 'writer', checking)), 'once each, without holes'],
    ['  of the readers', await ofReaders(() => checkLogs(written, 'reader', checking)), ''],
  ];
  const { drivers, example } = await checkIndex(bases, checking);
  rows.push(['found by the index', grouped(drivers), 'drivers, each with all of their trips']);
  if (billing) {
    const attempts = await checkBills(bases, checking);
    const billed = attempts.reduce((sum, [, count]) => sum + count, 0);
    const needed = attempts.map(([attempt, count]) => `${grouped(count)} at attempt ${attempt}`).join(', ');
    rows.push(['billed by the trigger', grouped(billed), `trips, each exactly once: ${needed}`]);
    rows.push(['parked on the way', grouped(billing.parked.size), 'cells that failed too often, and were sent again']);
  }
  printAll(example);
  printAll(textTable(rows, [1]));
  return verdict(differences, print);
}

async function hasTrigger(store: DemoClient): Promise<boolean> {
  try {
    await store.getTrigger({ trigger: TRIGGER, limit: 1 });
    return true;
  } catch (error) {
    if (error instanceof SchemalessError && error.code === 'unknown_trigger') return false;
    throw error;
  }
}

async function stateOf(store: DemoClient): Promise<string> {
  const { state, reason, parked, lag } = await store.getTrigger({ trigger: TRIGGER, limit: 1 });
  return `it is ${state}${reason === null ? '' : ` (${reason})`}, ${lag.cells} cells behind, ${parked} parked`;
}

function outcomesOf(written: Acknowledged): string {
  const counts = Map.groupBy(written.values(), (outcome) => outcome);
  return [...counts].map(([outcome, { length }]) => `${outcome} ${grouped(length)}`).join(', ');
}

function verdict(differences: Differences, print: (line: string) => void): number {
  const checks = grouped(differences.passed + differences.failed);
  if (differences.failed === 0) {
    print(`${checks} checks passed`);
    return 0;
  }
  for (const line of differences.first) print(`  wrong: ${line}`);
  if (differences.failed > differences.first.length)
    print(`  … and ${grouped(differences.failed - differences.first.length)} more`);
  print(`${grouped(differences.failed)} of ${checks} checks failed`);
  return differences.failed;
}
