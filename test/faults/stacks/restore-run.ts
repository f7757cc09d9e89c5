import { aftermathNotes, lossCheck, type Aftermath } from '../aftermath.ts';
import { check, noneOf, type FaultRun, type RunWorld } from '../fault-run.ts';
import { restFigure } from '../soak/settle.ts';
import { stackEngine } from '../stack-program.ts';
import { setBackAll } from './set-back-all.ts';
import { setBackOne, type SetBackOne } from './set-back-one.ts';
import { RestoredStack } from './restored-stack.ts';

/** Acknowledged in each part, at the least. */
const CELLS = 1000;
/** Far longer than from the snapshot until the group is set back. */
const KEEP_MINUTES = 60;
/** For the trips of the control to be billed: those that are gone never are. */
const CONTROL_MS = 15_000;

export const restoreRun: FaultRun = {
  name: 'restore',
  promise:
    'A group set back by less than copies are kept loses nothing; a stack set back has all from before, and what is gone can be named',
  fault:
    'a whole local stack under load: one group set back to a snapshot meanwhile; then everything, stopped, to another',
  control:
    'no copies are kept; everything is set back to an earlier snapshot; the export is compared before it is set back',

  async run(world) {
    const { one, all } = await whole(world);
    world.say(`the control: ${restoreRun.control}`);
    const forgetful = await withoutCopies(world);
    return {
      checks: [
        lossCheck(
          'one group: cells lost, other faults; control: no copies are kept',
          one.aftermath,
          forgetful.aftermath,
          CELLS,
        ),
        check(
          {
            what: 'one group: left in buffers, in queues, for triggers, parked; trips not billed; control: the same',
            bar: '0, 0, 0, 0; 0',
            figure: ({ rest, unbilled }: SetBackOne) => `${restFigure(rest)}; ${unbilled}`,
            holds: ({ rest, unbilled }) => restFigure(rest) === '0, 0, 0, 0' && unbilled === 0,
            fails: ({ unbilled }) => unbilled > 0,
          },
          one,
          forgetful,
        ),
        noneOf(
          'one group: index entries missing, extra or wrong; control: trips are deleted',
          100,
          one.index,
          all.spoiled,
        ),
        lossCheck(
          'all: cells from before the snapshot lost, other faults; control: an earlier one',
          all.aftermath,
          all.earlier,
          CELLS,
        ),
        noneOf('all: index entries missing, extra or wrong; control: trips are deleted', 100, all.index, all.spoiled),
        noneOf(
          'all: trips from before, or there, not billed; control: an earlier one',
          50,
          all.unbilled,
          all.unbilledEarlier,
        ),
        noneOf(
          'all: gone cells that the comparison does not name, or names though they are there; control: compared before',
          50,
          all.named,
          all.namedBefore,
        ),
        noneOf('all: cells lost once the export is imported; control: before', 2 * CELLS, all.imported, all.gone),
      ],
      cells: all.imported.of,
      engine: stackEngine(world),
      notes: [
        `one group: ${one.seconds.toFixed(1)} s until it took writes again; ${one.aftermath.drainSeconds.toFixed(1)} s until the buffers were empty`,
        ...aftermathNotes(one.aftermath),
        `without copies: ${forgetful.aftermath.lost} lost`,
        ...aftermathNotes(all.aftermath),
      ],
    };
  },
};

async function whole(world: RunWorld) {
  await using stack = await RestoredStack.start(world, 'real', KEEP_MINUTES);
  const one = await setBackOne(world, stack);
  return { one, all: await setBackAll(world, stack, one) };
}

async function withoutCopies(world: RunWorld): Promise<SetBackOne & { readonly aftermath: Aftermath }> {
  await using stack = await RestoredStack.start(world, 'forgetful', 0);
  return await setBackOne(world, stack, CONTROL_MS);
}
