import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CellDifference } from '../../../infra/cli/files/compare-command.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { aftermathNotes, lossCheck } from '../aftermath.ts';
import { deleteTrips } from '../delete-trips.ts';
import { check, grouped, noneOf, type FaultRun, type RunWorld, type Share } from '../fault-run.ts';
import { allWritten, type Written } from '../load/ledger.ts';
import { addressAlone } from '../row-keys.ts';
import { settledResult } from '../soak/settle.ts';
import { addressOf, countUnreadable, type AckedCell } from '../stored-cells.ts';
import { startProgram } from '../stack-program.ts';
import { WholeStack, type IndexVerdict } from '../whole-stack.ts';

const PROXIED = new URL('proxied-stack.ts', import.meta.url);
const SHARDS = 24;
const INDEX = 'driver_partner_index';
/** The time for the repair to notice cuts, and to compare every index; for trips to be billed; for the rest. */
const PATIENCE_MS = 120_000;
const POLL_MS = 1000;
const CELLS = 1000;
/** Far longer than from the snapshot until the group is restored. */
const KEEP_MINUTES = 60;
const GROUP = 'group-1';
const [FIRST, SECOND] = ['first', 'second'];
/** Times around the snapshots: most cells written since the first are drained by the end of it. */
const ONE_MS = { before: 12_000, since: 15_000, after: 15_000 };
const ALL_MS = { before: 4000, since: 10_000 };
/** The time for the trips of the controls to be billed: missing ones never are. */
const FORGETFUL_MS = 15_000;
const EARLIER_MS = 10_000;
/** New cells that show whether every shard takes writes. */
const PROBES = 60;
const SPOIL = { pollMs: 2000, patienceMs: 60_000 };

export const restoreRun: FaultRun = {
  name: 'restore',
  promise:
    'A group restored by less than the retention of copies loses nothing; a restored stack has all earlier cells, and the missing ones can be named',
  fault:
    'a whole local stack under load, with proxies, token logins and enforced policies: one group restored to a snapshot as another cluster; then everything, stopped, to another',
  control:
    'no copies are kept; policies name clusters by their resource ids; everything is restored to an earlier snapshot; the export is compared before the restore',

  async run(world) {
    const { one, all } = await whole(world);
    world.say(`the control: ${restoreRun.control}`);
    const forgetful = await withoutCopies(world);
    const lockedOut = await withOldPolicy(world);
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
            result: ({ rest, unbilled }) => `${settledResult(rest)}; ${unbilled}`,
            holds: ({ rest, unbilled }) => settledResult(rest) === '0, 0, 0, 0' && unbilled === 0,
            fails: ({ unbilled }) => unbilled > 0,
          },
          one,
          forgetful,
        ),
        check(
          {
            what: 'one group: logins refused, cells not stored afterwards; control: policies name clusters by id',
            bar: `0, 0 of ${PROBES}`,
            result: ({ refused, unstored }) => `${refused}, ${unstored} of ${PROBES}`,
            holds: ({ refused, unstored }) => refused === 0 && unstored === 0,
            fails: ({ refused, unstored }) => refused > 0 && unstored > 0,
          },
          one.logins,
          lockedOut,
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
        noneOf('all: cells lost once the export is imported; control: before', CELLS, all.imported, all.gone),
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

const start = (world: RunWorld, name: string, options: object): Promise<WholeStack> =>
  WholeStack.start(world, name, () =>
    startProgram(world, name, PROXIED, { shards: SHARDS, serverSize: 'full', ...options }),
  );

async function whole(world: RunWorld) {
  await using stack = await start(world, 'real', { keepCopies: KEEP_MINUTES });
  const one = await restoreOne(stack);
  return { one, all: await restoreAll(stack, one) };
}

async function withoutCopies(world: RunWorld) {
  await using stack = await start(world, 'forgetful', {});
  return await restoreOne(stack, ['--force'], FORGETFUL_MS);
}

async function withOldPolicy(world: RunWorld) {
  await using stack = await start(world, 'locked-out', { keepCopies: KEEP_MINUTES, namesClusters: true });
  const polling = { pollMs: POLL_MS, patienceMs: PATIENCE_MS, signal: world.signal };
  const poll = (): Promise<Logins> => loginsOf(stack);
  await pollUntil(poll, ({ unstored }) => unstored === 0, polling);
  await stack.control('snapshot', FIRST);
  // It never returns, since no drain can open the group's shards.
  void stack.send('restore-group', `${GROUP} ${FIRST}`).catch(() => undefined);
  const logins = await pollUntil(poll, ({ refused }) => refused > 0, polling);
  // A server that starts later would outlive the stack.
  await stack.untilAllRun();
  return logins;
}

interface Logins {
  /** By the policies, of functions at the proxies. */
  readonly refused: number;
  readonly unstored: number;
}

async function loginsOf(stack: WholeStack): Promise<Logins> {
  const log = readFileSync(join(stack.data, 'functions.log'), 'utf8');
  const address = { column_name: 'NOTES', ref_key: 1, body: {} };
  const cells = Array.from({ length: PROBES }, () => ({ ...address, row_key: randomUUID() }));
  const results = await stack.client().batchPut(cells);
  return {
    refused: log.match(/^\S+ iam .*rds-db:connect/gmu)?.length ?? 0,
    unstored: results.filter((result) => !('outcome' in result && result.outcome === 'stored')).length,
  };
}

async function restoreOne(stack: WholeStack, flags: readonly string[] = [], billMs?: number) {
  const { say } = stack.world;
  let seconds = 0;
  const written = await stack.loaded(`${stack.data}/one`, SHARDS, async () => {
    await stack.wait(ONE_MS.before);
    await stack.control('snapshot', FIRST);
    await stack.wait(ONE_MS.since);
    say(`setting ${GROUP} back by ${ONE_MS.since / 1000} s`);
    const begun = performance.now();
    await stack.control('restore-group', GROUP, FIRST, '--yes', ...flags);
    seconds = (performance.now() - begun) / 1000;
    await stack.wait(ONE_MS.after);
  });
  const rest = await stack.settle(PATIENCE_MS);
  const aftermath = await stack.inspect(written);
  const { wrong: unbilled, of } = await unbilledOf(stack, written, billMs);
  const index = shareOf(await stack.verifyInTheEnd(INDEX, PATIENCE_MS));
  const logins = await loginsOf(stack);
  say(`${aftermath.lost} of ${grouped(aftermath.acked)} lost, ${unbilled} of ${of} trips not billed`);
  return { written, aftermath, rest, unbilled, index, logins, seconds };
}

async function restoreAll(stack: WholeStack, { written }: Pick<Awaited<ReturnType<typeof restoreOne>>, 'written'>) {
  const { say, folder } = stack.world;
  const since = await stack.loaded(`${stack.data}/all`, SHARDS, async () => {
    await stack.wait(ALL_MS.before);
    await stack.control('snapshot', SECOND);
    await stack.wait(ALL_MS.since);
  });
  await stack.settle(PATIENCE_MS);
  const all = allWritten([written, since]);
  const path = join(folder, 'export');
  await done(stack.command('export', path));
  const before = await comparison(stack, path);

  say(`setting everything back by ${ALL_MS.since / 1000} s and more`);
  await restore(stack, SECOND);
  await stack.settle(PATIENCE_MS);
  const aftermath = await stack.inspect(written);
  const items = await getAll(stack.client(), since.acked.map(addressAlone));
  const there = since.acked.filter((_, position) => items[position] !== null);
  const gone = since.acked.filter((_, position) => items[position] === null);
  const unbilled = await unbilledOf(stack, { acked: [...written.acked, ...there] });
  const index = shareOf(await stack.verifyInTheEnd(INDEX, PATIENCE_MS));
  const after = await comparison(stack, path);
  const named = await judgeNamed(stack, gone, after);
  say(`${aftermath.lost} from before lost, ${gone.length} since are gone, ${after.length} named`);

  await done(stack.command('import', path));
  const missing = await countUnreadable(stack.client(), all.acked);
  say(`${missing} of ${grouped(all.acked.length)} lost once the export is imported`);

  const spoiled = await spoil(stack);
  await restore(stack, FIRST);
  return {
    aftermath,
    earlier: await stack.inspect(written),
    index,
    spoiled,
    unbilled,
    unbilledEarlier: await unbilledOf(stack, written, EARLIER_MS),
    named,
    namedBefore: await judgeNamed(stack, gone, before),
    gone: { wrong: gone.length, of: all.acked.length },
    imported: { wrong: missing, of: all.acked.length },
  };
}

/**
 * Makes an index contradict the cells. After a cut the repair compares and fixes every index for a while: deleted trips
 * may be fixed before the check, and more are deleted then.
 */
function spoil(stack: WholeStack): Promise<Share> {
  const poll = async (): Promise<Share> => {
    await deleteTrips(stack.groups, 'group-2');
    return shareOf(await stack.verify(INDEX));
  };
  return pollUntil(poll, ({ wrong }) => wrong > 0, { ...SPOIL, signal: stack.world.signal });
}

async function restore(stack: WholeStack, snapshot: string): Promise<void> {
  await stack.process.stop();
  await stack.control('restore', snapshot, '--yes');
  await stack.startAgain();
}

/** Returns the trips among these cells that no consumer has billed, after a wait for it. */
async function unbilledOf(
  stack: WholeStack,
  { acked }: Pick<Written, 'acked'>,
  patienceMs = PATIENCE_MS,
): Promise<Share> {
  const trips = [...new Set(acked.filter(({ column_name }) => column_name === 'BASE').map(({ row_key }) => row_key))];
  let waiting: readonly string[] = trips;
  for (const end = performance.now() + patienceMs; waiting.length > 0 && performance.now() < end;) {
    const items = await getAll(
      stack.client(),
      waiting.map((row_key) => ({ row_key, column_name: 'STATUS' })),
    );
    waiting = waiting.filter((_, position) => {
      const item = items[position];
      return !(item && 'body' in item && Object(item.body).is_completed === true);
    });
    if (waiting.length > 0) await stack.wait(POLL_MS);
  }
  return { wrong: waiting.length, of: trips.length };
}

const shareOf = ({ problems, rows }: IndexVerdict): Share => ({ wrong: problems, of: rows });

async function done(command: ReturnType<WholeStack['command']>): Promise<void> {
  const { code, stderr } = await command;
  if (code !== 0) throw new Error(`a command ended with ${code}: ${stderr}`);
}

async function comparison(stack: WholeStack, path: string): Promise<readonly CellDifference[]> {
  const { stdout } = await stack.command('compare', path);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as CellDifference);
}

/** Counts missing cells that were not named, and cells named as missing that are there. */
async function judgeNamed(
  stack: WholeStack,
  gone: readonly AckedCell[],
  found: readonly CellDifference[],
): Promise<Share> {
  const named = new Set(found.map(addressOf));
  const missed = gone.filter((cell) => !named.has(addressOf(cell))).length;
  const items = await getAll(stack.client(), found.map(addressAlone));
  const there = found.filter(({ difference }, position) => difference === 'missing' && items[position] !== null).length;
  return { wrong: missed + there, of: gone.length };
}
