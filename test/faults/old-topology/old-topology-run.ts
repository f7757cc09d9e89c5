import { setTimeout as sleep } from 'node:timers/promises';
import type { MoveStatus } from '../../../shared/contract/move-operations.ts';
import { moveManagement } from '../../../shared/moves/move-management.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import { until } from '../../support/until.ts';
import { withClient } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, type OpenStore } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { aftermathNotes, faultsLine, otherFaults, type Aftermath } from '../aftermath.ts';
import { countsLine, grouped, noneOf, type FaultRun, type RunWorld, type Share } from '../fault-run.ts';
import { allWritten, Ledger } from '../load/ledger.ts';
import type { MoverInput, MoverProgress } from '../moves/mover-process.ts';
import { rowKeyIn } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import {
  countOlder,
  isOld,
  judgeOld,
  VERSIONS,
  type AckedVersion,
  type Answered,
  type OldAnswers,
  type TimeHeld,
} from './judge-router.ts';
import type { Routed, RouterInput } from './router-thread.ts';

const SHARDS = 12;
/** One of each group: the nth shard is the nth group's at first. */
const MOVED = [0, 1, 2];
const ROWS_A_SHARD = 8;
const HELD_SECONDS = 30;
const CONTROL_SECONDS = 8;
const LEAST_WRITES = 300;
const LEAST_READS = 300;
const LEAST_AFTER = 100;
const LEAST_CELLS = 1500;
const PATIENCE_MS = 60_000;
const VERSION_PAUSE_MS = 5;

export const oldTopologyRun: FaultRun = {
  name: 'old-topology',
  promise:
    'Who goes by an old topology writes nothing to the former group of a shard, and reads nothing there unmarked',
  fault: `an instance that hears of no move for ${HELD_SECONDS} s, while ${MOVED.length} shards are on other groups and are written to there`,
  control: 'a move that leaves the shard open on its former group, under its name',

  async run(world) {
    const real = await holdOld(world, 'old-topology/real', { seconds: world.seconds ?? HELD_SECONDS, leaves: true });
    world.say(`the control: ${oldTopologyRun.control}`);
    const control = await holdOld(world, 'old-topology/control', { seconds: CONTROL_SECONDS, leaves: false });
    const [old, oldControl] = [real.old, control.old];
    return {
      checks: [
        noneOf(
          'writes that the former group took, of those to shards that were elsewhere',
          LEAST_WRITES,
          { wrong: old.taken, of: old.writes },
          { wrong: oldControl.taken, of: oldControl.writes },
        ),
        noneOf(
          'reads of them that were answered without `stale`',
          LEAST_READS,
          { wrong: old.unmarked, of: old.reads },
          { wrong: oldControl.unmarked, of: oldControl.reads },
        ),
        noneOf(
          'once it may hear of the move: writes not stored, reads refused or older than was acknowledged',
          LEAST_AFTER,
          real.after,
          control.after,
        ),
        noneOf(
          'cells lost, moved or doubled, holes, wrong answers, left in a buffer',
          LEAST_CELLS,
          wrongOf(real.aftermath),
          wrongOf(control.aftermath),
        ),
      ],
      cells: real.aftermath.acked,
      engine: real.engine,
      notes: [
        `to shards that were elsewhere: ${countsLine(real.outcomes)}; reads: ${grouped(old.refused)} of ${grouped(old.reads)} refused, ${grouped(old.reads - old.refused - old.unmarked)} marked as stale`,
        `to the others meanwhile: ${countsLine(real.others)}`,
        `the control's reads without \`stale\`: ${grouped(oldControl.older)} of ${grouped(oldControl.unmarked)} lacked what was acknowledged before`,
        ...aftermathNotes(real.aftermath),
        `the control: ${faultsLine(control.aftermath)}`,
      ],
    };
  },
};

function wrongOf(aftermath: Aftermath): Share {
  return { wrong: aftermath.lost + otherFaults(aftermath), of: aftermath.acked };
}

interface Holding {
  /** So long the shards are elsewhere before it may hear of that. */
  readonly seconds: number;
  /** Whether a moved shard is closed on its former group, and loses its name there. */
  readonly leaves: boolean;
}

interface Held {
  readonly engine: string;
  readonly old: OldAnswers;
  readonly outcomes: Record<string, number>;
  readonly others: Record<string, number>;
  readonly after: Share;
  readonly aftermath: Aftermath;
}

async function holdOld(world: RunWorld, name: string, { seconds, leaves }: Holding): Promise<Held> {
  await using stage = await Stage.start(world, name, { shards: SHARDS });
  const store = await stage.open();
  await stage.drain({ looksForMore: true });
  const random = new Random(world.seed, name, 0);
  const [first = '', ...others] = MOVED.flatMap((shard) =>
    Array.from({ length: ROWS_A_SHARD }, () => rowKeyIn(random, new Set([shard]), SHARDS)),
  );
  const rows = [first, ...others] as const;
  const versions = writeVersions(store, rows);
  const input: RouterInput = { access: stage.access, seed: world.seed, shards: SHARDS, moved: MOVED, rows };
  using router = startWorker<RouterInput, 'release', never, Routed>(
    new URL('router-thread.ts', import.meta.url),
    input,
  );
  await router.ready;
  const { from, formerly } = await moveAll(stage, store, leaves);
  world.say(`${MOVED.length} shards are elsewhere; the instance that has not heard of it goes on for ${seconds} s`);
  await stage.wait(seconds * 1000);
  const routed = await router.stop('release');
  const { acked, ledger } = await versions.stop();
  if (!leaves) await leaveAtLast(stage, formerly);
  const time: TimeHeld = { from, to: routed.released };
  return {
    engine: stage.engine,
    old: judgeOld(time, routed, acked),
    outcomes: counted(routed.writes.filter(isOld(time))),
    others: counted(routed.writes.filter(({ shard, ended }) => !MOVED.includes(shard) && ended < routed.released)),
    after: afterwards(routed, acked),
    aftermath: await stage.inspect(allWritten([routed.written, ledger.written()])),
  };
}

/** What was begun once the move could be heard of: all of it has to be as if there had been none. */
function afterwards({ writes, reads, released }: Routed, acked: readonly AckedVersion[]): Share {
  const isLater = ({ begun }: Answered): boolean => begun >= released;
  const [written, read] = [writes.filter(isLater), reads.filter(isLater)];
  const unmarked = read.filter(({ answer }) => answer?.stale === false);
  return {
    wrong:
      written.filter(({ outcome }) => outcome !== 'stored').length +
      read.filter(({ answer }) => answer === undefined).length +
      countOlder(unmarked, acked),
    of: written.length + read.length,
  };
}

function counted(writes: readonly { readonly outcome: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of writes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** Writes a version of each row in turn, as somebody who hears of moves, until it is stopped. */
function writeVersions({ datastore }: OpenStore, rows: readonly string[]) {
  const [acked, ledger] = [[] as AckedVersion[], new Ledger()];
  const over = new AbortController();
  const writing = (async () => {
    for (let version = 1; !over.signal.aborted; version += 1) {
      for (const row_key of rows) {
        const cell = { row_key, column_name: VERSIONS, ref_key: version, body: { version } };
        const result = await datastore.put(cell);
        ledger.note(cell, result);
        if (result.outcome === 'stored') acked.push({ row_key, version, at: Date.now() });
        await sleep(VERSION_PAUSE_MS);
      }
    }
  })();
  return {
    async stop() {
      over.abort();
      await writing;
      return { acked, ledger };
    },
  };
}

/** Moves the shards, one after the other. Returns when each was elsewhere, and where it was before. */
async function moveAll(
  stage: Stage,
  { context, topologyTable, stateTable, name }: OpenStore,
  leaves: boolean,
): Promise<{ readonly from: ReadonlyMap<number, number>; readonly formerly: ReadonlyMap<number, string> }> {
  const operations = await moveManagement({ context, topologyTable, stateTable }).moves(name);
  const input: MoverInput = leaves
    ? { access: stage.access }
    : {
        access: stage.through(new URL('stays-open.ts', import.meta.url)),
        protections: { closes: false, compares: true },
      };
  using mover = startProcess<MoverInput, MoverProgress>(
    new URL('../moves/mover-process.ts', import.meta.url),
    stage.cluster.folder,
    input,
  );
  await mover.ready;
  const stepped = (shard: number, isSo: (status: MoveStatus) => boolean): Promise<void> =>
    until(`the move of shard ${shard} comes on`, async () => isSo(await operations.move(shard)), {
      patienceMs: PATIENCE_MS,
      pollMs: 20,
      signal: stage.world.signal,
    });
  const [from, formerly] = [new Map<number, number>(), new Map<number, string>()];
  for (const shard of MOVED) {
    formerly.set(shard, stage.groupInTurn(shard));
    await operations.createMove(shard, stage.groupInTurn(shard + 1), { switch: true });
    await stepped(shard, ({ switches, step }) => switches === 1 && step === 'following');
    from.set(shard, Date.now());
  }
  if (leaves) {
    // Of one shard the former group has nothing any more, of the others their copies.
    await operations.completeMove(0);
    await stepped(0, ({ step }) => step === 'completed');
  }
  await mover.stop();
  return { from, formerly };
}

/** What is looked at in the end is on one group alone. */
async function leaveAtLast(stage: Stage, formerly: ReadonlyMap<number, string>): Promise<void> {
  for (const [shard, group] of formerly)
    await withClient(stage.access.groups, group, (client) =>
      client.change({
        sql: `UPDATE ${CONTROL}.shard SET state = 'moved' WHERE datastore = ? AND shard = ?`,
        parameters: [DATASTORE, shard],
      }),
    );
}
