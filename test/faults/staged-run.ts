import type { ClusterOptions } from '../support/cluster.ts';
import { aftermathNotes, faultsLine, type Aftermath } from './aftermath.ts';
import type { FaultRun, RunOutcome } from './fault-run.ts';
import { Stage } from './stage.ts';

type Servers = Omit<ClusterOptions, 'folder' | 'engine'>;

/** A fault run on servers with a datastore: its faults, and its judgement. */
export interface StagedRun<Real, Control> extends Omit<FaultRun, 'run'> {
  readonly servers: Servers;
  /** The differences of the control's servers. @default the control runs on the same servers, after the fault */
  readonly controlServers?: Partial<Servers>;
  readonly real: (stage: Stage) => Promise<Real>;
  readonly without: (stage: Stage, real: Real) => Promise<Control>;
  /** An `aftermath` of a result gives the number of cells, and is noted. */
  readonly judge: (real: Real, control: Control) => Pick<RunOutcome, 'checks'> & Partial<RunOutcome>;
}

/** Makes a run: starts the servers of each part in turn, and always ends them. */
export function stagedRun<Real, Control>(run: StagedRun<Real, Control>): FaultRun {
  const { servers, controlServers, real, without, judge, ...declared } = run;
  return {
    ...declared,
    async run(world) {
      const onStage = async <T>(name: string, options: Servers, work: (stage: Stage) => Promise<T>): Promise<T> => {
        await using stage = await Stage.start(world, name, options);
        return await work(stage);
      };
      const control = async (stage: Stage, done: Real): Promise<RunOutcome> => {
        world.say(`the control: ${run.control}`);
        const controlled = await without(stage, done);
        return noted(judge(done, controlled), Object(done).aftermath, Object(controlled).aftermath);
      };
      if (!controlServers) return onStage(run.name, servers, async (stage) => control(stage, await real(stage)));
      const done = await onStage(`${run.name}/real`, servers, real);
      return onStage(`${run.name}/control`, { ...servers, ...controlServers }, (stage) => control(stage, done));
    },
  };
}

function noted(
  { checks, cells, notes = [] }: ReturnType<StagedRun<unknown, unknown>['judge']>,
  real: Aftermath | undefined,
  control: Aftermath | undefined,
): RunOutcome {
  const aftermath = real ?? control;
  return {
    checks,
    cells: cells ?? aftermath?.acked ?? 0,
    notes: [
      ...notes,
      ...(aftermath ? aftermathNotes(aftermath) : []),
      ...(real && control ? [`the control: ${control.lost} of ${control.acked} lost, ${faultsLine(control)}`] : []),
    ],
  };
}
