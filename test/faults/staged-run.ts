import type { ClusterOptions } from '../support/cluster.ts';
import type { FaultRun, RunOutcome } from './fault-run.ts';
import { Stage } from './stage.ts';

type Servers = Omit<ClusterOptions, 'folder' | 'engine'>;

/** A fault run on servers with a datastore: what it does to them, and what it judges. */
export interface StagedRun<Real, Control> extends Omit<FaultRun, 'run'> {
  readonly servers: Servers;
  /** What of the control's servers differs. @default the control runs on the same servers, after the fault */
  readonly controlServers?: Partial<Servers>;
  /** The fault, with the protection. */
  readonly real: (stage: Stage) => Promise<Real>;
  /** The same without it. */
  readonly without: (stage: Stage, real: Real) => Promise<Control>;
  readonly judge: (real: Real, control: Control, stage: Pick<Stage, 'world'>) => RunOutcome;
}

/** Makes a run: starts the servers of each part in turn, and ends them whatever comes. */
export function stagedRun<Real, Control>(run: StagedRun<Real, Control>): FaultRun {
  const { servers, controlServers, real, without, judge, ...declared } = run;
  return {
    ...declared,
    async run(world) {
      const control = async (stage: Stage, done: Real): Promise<Control> => {
        world.say(`the control: ${run.control}`);
        return await without(stage, done);
      };
      if (!controlServers) {
        await using stage = await Stage.start(world, run.name, servers);
        const done = await real(stage);
        return judge(done, await control(stage, done), stage);
      }
      const done = await onStage('real', servers, real);
      return judge(done, await onStage('control', { ...servers, ...controlServers }, (stage) => control(stage, done)), {
        world,
      });

      async function onStage<T>(part: string, options: Servers, work: (stage: Stage) => Promise<T>): Promise<T> {
        await using stage = await Stage.start(world, `${run.name}/${part}`, options);
        return await work(stage);
      }
    },
  };
}
