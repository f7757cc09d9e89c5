import type { FaultRun } from './fault-run.ts';

/**
 * The modules of all runs, in starting order; those that run alone come after the others. The longest begin first,
 * since others run in parallel with them.
 */
const MODULES = [
  'soak/soak',
  'triggers/triggers',
  'log/log',
  'losses/kill',
  'losses/lost-disk',
  'losses/shown',
  'conflicts/conflicts',
  'acks/acks',
  'transactions/counters',
  'acks/data-api',
  'damage/damage',
  'hostile/hostile',
  'stacks/restart',
  'stacks/restore',
  'indexes/races',
  'indexes/build',
  'simulate/simulate',
  'replication/replication',
  'outages/outage',
  'outages/unavailable',
  'outages/readers-down',
  'erasing/erasures',
  'erasing/forgetting',
  'erasing/retention',
  'hanging/paused',
  'hanging/stalled',
  'hanging/silent',
  'in-use/freeze',
  'in-use/quiet',
  'overload/overload',
  'moves/moves',
  'growth/growth',
  'triggers/tailers',
] as const;

export const FAULT_RUNS: readonly FaultRun[] = await Promise.all(MODULES.map(runOf));

/** The runs that take under four minutes in total and judge no latency: they hold under other load as well. */
export const SHORT_RUNS: readonly string[] = ['acks', 'lost-disk'];

async function runOf(module: string): Promise<FaultRun> {
  const exported = (await import(`./${module}-run.ts`)) as Readonly<Record<string, Partial<FaultRun> | undefined>>;
  const run = Object.values(exported).find((one) => one?.name === module.split('/')[1]);
  if (!run?.run) throw new Error(`${module}-run.ts exports no fault run of its name`);
  return run as FaultRun;
}
