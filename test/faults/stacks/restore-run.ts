import { join } from 'node:path';
import type { CellDifference } from '../../../infra/cli/files/compare-command.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { lookUntil } from '../../support/look-until.ts';
import { aftermathNotes, lossCheck } from '../aftermath.ts';
import { deleteTrips } from '../delete-trips.ts';
import { check, grouped, noneOf, type FaultRun, type RunWorld, type Share } from '../fault-run.ts';
import { allWritten } from '../load/ledger.ts';
import { addressAlone } from '../row-keys.ts';
import { restFigure } from '../soak/settle.ts';
import { addressOf, countUnreadable, type AckedCell } from '../stored-cells.ts';
import { RestoredStack } from './restored-stack.ts';

const CELLS = 1000;
/** Far longer than from the snapshot until the group is restored. */
const KEEP_MINUTES = 60;
const GROUP = 'group-1';
const [FIRST, SECOND] = ['first', 'second'];
/** Around the snapshots: most of what is written since the first is drained by the end of it. */
const ONE_MS = { before: 12_000, since: 15_000, after: 15_000 };
const ALL_MS = { before: 4000, since: 10_000 };
/** For the trips of the controls to be billed: those that are gone never are. */
const FORGETFUL_MS = 15_000;
const EARLIER_MS = 10_000;
const SPOIL = { pollMs: 2000, patienceMs: 60_000 };

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
    const indexCheck = (whose: string, index: Share) =>
      noneOf(`${whose}: index entries missing, extra or wrong; control: trips are deleted`, 100, index, all.spoiled);
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
            figure: ({ rest, unbilled }) => `${restFigure(rest)}; ${unbilled}`,
            holds: ({ rest, unbilled }) => restFigure(rest) === '0, 0, 0, 0' && unbilled === 0,
            fails: ({ unbilled }) => unbilled > 0,
          },
          one,
          forgetful,
        ),
        indexCheck('one group', one.index),
        lossCheck(
          'all: cells from before the snapshot lost, other faults; control: an earlier one',
          all.aftermath,
          all.earlier,
          CELLS,
        ),
        indexCheck('all', all.index),
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
  const one = await restoreOne(stack);
  return { one, all: await restoreAll(stack, one) };
}

async function withoutCopies(world: RunWorld) {
  await using stack = await RestoredStack.start(world, 'forgetful', 0);
  return await restoreOne(stack, ['--force'], FORGETFUL_MS);
}

async function restoreOne(stack: RestoredStack, flags: readonly string[] = [], billMs?: number) {
  const { say } = stack.world;
  let seconds = 0;
  const written = await stack.written('one', async () => {
    await stack.wait(ONE_MS.before);
    await stack.control('snapshot', FIRST);
    await stack.wait(ONE_MS.since);
    say(`setting ${GROUP} back by ${ONE_MS.since / 1000} s`);
    const begun = performance.now();
    await stack.control('set-back', GROUP, FIRST, '--yes', ...flags);
    seconds = (performance.now() - begun) / 1000;
    await stack.wait(ONE_MS.after);
  });
  const rest = await stack.settle();
  const aftermath = await stack.inspect(written);
  const { wrong: unbilled, of } = await stack.unbilled(written, billMs);
  const index = await stack.verifiedIndex();
  say(`${aftermath.lost} of ${grouped(aftermath.acked)} lost, ${unbilled} of ${of} trips not billed`);
  return { written, aftermath, rest, unbilled, index, seconds };
}

async function restoreAll(stack: RestoredStack, { written }: Pick<Awaited<ReturnType<typeof restoreOne>>, 'written'>) {
  const { say, folder } = stack.world;
  const since = await stack.written('all', async () => {
    await stack.wait(ALL_MS.before);
    await stack.control('snapshot', SECOND);
    await stack.wait(ALL_MS.since);
  });
  await stack.settle();
  const all = allWritten([written, since]);
  const path = join(folder, 'export');
  await done(stack.command('export', path));
  const before = await comparison(stack, path);

  say(`setting everything back by ${ALL_MS.since / 1000} s and more`);
  await stack.restore(SECOND);
  await stack.settle();
  const aftermath = await stack.inspect(written);
  const items = await getAll(stack.client(), since.acked.map(addressAlone));
  const there = since.acked.filter((_, position) => items[position] !== null);
  const gone = since.acked.filter((_, position) => items[position] === null);
  const unbilled = await stack.unbilled({ acked: [...written.acked, ...there] });
  const index = await stack.verifiedIndex();
  const after = await comparison(stack, path);
  const named = await judgeNamed(stack, gone, after);
  say(`${aftermath.lost} from before lost, ${gone.length} since are gone, ${after.length} named`);

  await done(stack.command('import', path));
  const missing = await countUnreadable(stack.client(), all.acked);
  say(`${missing} of ${grouped(all.acked.length)} lost once the export is imported`);

  const spoiled = await spoil(stack);
  await stack.restore(FIRST);
  return {
    aftermath,
    earlier: await stack.inspect(written),
    index,
    spoiled,
    unbilled,
    unbilledEarlier: await stack.unbilled(written, EARLIER_MS),
    named,
    namedBefore: await judgeNamed(stack, gone, before),
    gone: { wrong: gone.length, of: all.acked.length },
    imported: { wrong: missing, of: all.acked.length },
  };
}

/**
 * An index that does not say what the cells say. Logs that were cut have every index compared and mended for a while: what
 * is deleted meanwhile may be mended before it is looked at, and more is deleted then.
 */
function spoil(stack: RestoredStack): Promise<Share> {
  const look = async (): Promise<Share> => {
    await deleteTrips(stack.stack.groups, 'group-2');
    return stack.indexNow();
  };
  return lookUntil(look, ({ wrong }) => wrong > 0, { ...SPOIL, signal: stack.world.signal });
}

async function done(command: ReturnType<RestoredStack['command']>): Promise<void> {
  const { code, stderr } = await command;
  if (code !== 0) throw new Error(`a command ended with ${code}: ${stderr}`);
}

async function comparison(stack: RestoredStack, path: string): Promise<readonly CellDifference[]> {
  const { stdout } = await stack.command('compare', path);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as CellDifference);
}

/** What is gone and was not named, and what was named as missing and is there. */
async function judgeNamed(
  stack: RestoredStack,
  gone: readonly AckedCell[],
  found: readonly CellDifference[],
): Promise<Share> {
  const named = new Set(found.map(addressOf));
  const missed = gone.filter((cell) => !named.has(addressOf(cell))).length;
  const items = await getAll(stack.client(), found.map(addressAlone));
  const there = found.filter(({ difference }, position) => difference === 'missing' && items[position] !== null).length;
  return { wrong: missed + there, of: gone.length };
}
