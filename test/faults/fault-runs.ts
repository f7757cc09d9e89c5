import type { FaultRun } from './fault-run.ts';

/**
 * The modules of all runs, in the order in which the runs are begun; those that have to be alone come after the others.
 * The longest begin first, since others go next to them.
 */
const MODULES = [
  'moves/reverse',
  'soak/soak',
  'triggers/triggers',
  'log/log',
  'losses/kill',
  'losses/lost-disk',
  'losses/refused',
  'losses/shown',
  'conflicts/conflicts',
  'acks/acks',
  'acks/data-api',
  'damage/damage',
  'moves/old-topology',
  'hostile/hostile',
  'stacks/restart',
  'stacks/restore',
  'indexes/races',
  'indexes/build',
  'triggers/poison',
  'triggers/halted',
  'simulate/simulate',
  'replication/replication',
  'outages/outage',
  'outages/away',
  'outages/readers-down',
  'erasing/erasures',
  'erasing/forgetting',
  'erasing/retention',
  'hanging/paused',
  'hanging/locked',
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

/** Those that take under four minutes together and judge no latency: they hold also next to other work. */
export const SHORT_RUNS: readonly string[] = ['acks', 'lost-disk'];

async function runOf(module: string): Promise<FaultRun> {
  const exported = (await import(`./${module}-run.ts`)) as Readonly<Record<string, Partial<FaultRun> | undefined>>;
  const run = Object.values(exported).find((one) => one?.name === module.split('/')[1]);
  if (!run?.run) throw new Error(`${module}-run.ts exports no fault run of its name`);
  return run as FaultRun;
}
