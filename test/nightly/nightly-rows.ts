import type { EngineKind } from '../../infra/setup/engine.mjs';

/** One check of the night: a command that exits with 0 if it passes. */
export interface NightlyRow {
  readonly name: string;
  /** One line, for the table. */
  readonly holds: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Night {
  readonly engine: EngineKind;
  /** Which part of the long fault runs it carries out: 0, 1 or 2. */
  readonly part: number;
  /** Of the simulation and of the fault runs. */
  readonly seed: string;
  readonly faultRuns: readonly string[];
}

/** In how many nights every fault run had its turn. */
export const NIGHTS = 3;

const DAY_MS = 86_400_000;

/** The part of the fault runs that belongs to a date, so that three nights in a row carry out all of them. */
export function partOf(date: Date): number {
  return Math.floor(date.getTime() / DAY_MS) % NIGHTS;
}

/** Returns the checks that `.ci/run` and `npm test` leave out. */
export function nightlyRows({ engine, part, seed, faultRuns }: Night): readonly NightlyRow[] {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run'];
  const mysql = { SCHEMALESS_ENGINE: engine, SCHEMALESS_ACCESS: 'mysql' };
  const dataApi = { SCHEMALESS_ENGINE: engine, SCHEMALESS_ACCESS: 'data-api' };
  const synth = (environment: string): NightlyRow => ({
    name: `synth-${environment}`,
    holds: `the templates of ${environment}`,
    command: ['node_modules/aws-cdk/bin/cdk', 'synth', '--quiet', '--no-notices', '-c', `environment=${environment}`],
  });
  const runs = faultRuns.filter((name, at) => name !== 'simulate' && at % NIGHTS === part);
  return [
    {
      name: 'store',
      holds: 'store tests over MySQL’s protocol',
      command: [...vitest, '--project', 'store'],
      env: mysql,
    },
    {
      name: 'data-api',
      holds: 'store tests over the RDS Data API',
      command: [...vitest, '--project', 'store'],
      env: dataApi,
    },
    {
      name: 'stacks',
      holds: 'whole stacks, examples, packages, upgrade',
      command: [...vitest, '--project', 'nightly'],
      env: mysql,
    },
    synth('dev'),
    synth('staging'),
    {
      name: 'simulate',
      holds: 'simulated servers, with a new seed',
      command: ['test/faults/run.ts', 'simulate', '--seconds', '120', '--seed', seed],
    },
    ...runs.map((name) => ({
      name: `faults-${name}`,
      holds: 'a promise under its fault, and its control',
      command: ['test/faults/run.ts', name, '--engine', engine, '--seed', seed],
    })),
    { name: 'alarms', holds: 'every alarm rings and falls silent', command: ['test/alarms/run.ts'], env: mysql },
    { name: 'rights', holds: 'no function has a right too many', command: ['test/rights/run.ts'], env: mysql },
    {
      name: 'console',
      holds: 'the console in a browser',
      command: [...vitest, '--config', 'test/console/vitest.config.ts'],
      env: mysql,
    },
  ];
}
