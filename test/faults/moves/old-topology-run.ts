import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROL } from '../../../shared/sql/names.ts';
import { withClient } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, type OpenStore } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { wrongOf } from '../aftermath.ts';
import { countsLine, grouped, noneOf, type Share } from '../fault-run.ts';
import { allWritten, Ledger } from '../load/ledger.ts';
import { rowKeyIn } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { countOlder, isOld, judgeOld, VERSIONS, type AckedVersion, type Answered } from './judge-router.ts';
import { isFollowing, openMoves, startMover } from './moving.ts';
import type { Routed, RouterInput } from './router-thread.ts';

const SHARDS = 12;
/** One of each group: the nth shard is the nth group's at first. */
const MOVED = [0, 1, 2];
const ROWS_A_SHARD = 8;
const HELD_SECONDS = 30;
const CONTROL_SECONDS = 8;
const LEAST = { writes: 300, reads: 300, after: 100, cells: 1500 };
const VERSION_PAUSE_MS = 5;

export const oldTopologyRun = stagedRun({
  name: 'old-topology',
  promise:
    'Who goes by an old topology writes nothing to the former group of a shard, and reads nothing there unmarked',
  fault: `an instance that hears of no move for ${HELD_SECONDS} s, while ${MOVED.length} shards are on other groups and are written to there`,
  control: 'a move that leaves the shard open on its former group, under its name',
  servers: { shards: SHARDS },
  controlServers: {},
  real: (stage) => holdOld(stage, stage.world.seconds ?? HELD_SECONDS, true),
  without: (stage) => holdOld(stage, CONTROL_SECONDS, false),
  judge(real, control) {
    const { old } = real;
    const taken = ({ old: { taken, writes } }: Held): Share => ({ wrong: taken, of: writes });
    const unmarked = ({ old: { unmarked, reads } }: Held): Share => ({ wrong: unmarked, of: reads });
    const checks: readonly [what: string, least: number, share: (held: Held) => Share][] = [
      ['writes that the former group took, of those to shards that were elsewhere', LEAST.writes, taken],
      ['reads of them that were answered without `stale`', LEAST.reads, unmarked],
      [
        'once it may hear of the move: writes not stored, reads refused or older than was acknowledged',
        LEAST.after,
        ({ after }) => after,
      ],
      [
        'cells lost, moved or doubled, holes, wrong answers, left in a buffer',
        LEAST.cells,
        ({ aftermath }) => wrongOf(aftermath),
      ],
    ];
    return {
      checks: checks.map(([what, least, share]) => noneOf(what, least, share(real), share(control))),
      notes: [
        `to shards that were elsewhere: ${countsLine(real.outcomes)}; reads: ${grouped(old.refused)} of ${grouped(old.reads)} refused, ${grouped(old.reads - old.refused - old.unmarked)} marked as stale`,
        `to the others meanwhile: ${countsLine(real.others)}`,
        `the control's reads without \`stale\`: ${grouped(control.old.older)} of ${grouped(control.old.unmarked)} lacked what was acknowledged before`,
      ],
    };
  },
});

type Held = Awaited<ReturnType<typeof holdOld>>;

/**
 * @param seconds so long the shards are elsewhere before the instance may hear of that
 * @param leaves whether a moved shard is closed on its former group, and loses its name there
 */
async function holdOld(stage: Stage, seconds: number, leaves: boolean) {
  const { seed } = stage.world;
  const store = await stage.open();
  await stage.drain({ looksForMore: true });
  const random = new Random(seed, stage.name, 0);
  const [first = '', ...others] = MOVED.flatMap((shard) =>
    Array.from({ length: ROWS_A_SHARD }, () => rowKeyIn(random, new Set([shard]), SHARDS)),
  );
  const rows = [first, ...others] as const;
  const versions = writeVersions(store, rows);
  const input: RouterInput = { access: stage.access, seed, shards: SHARDS, moved: MOVED, rows };
  using router = startWorker<RouterInput, 'release', never, Routed>(
    new URL('router-thread.ts', import.meta.url),
    input,
  );
  await router.ready;
  const from = await moveAll(stage, store, leaves);
  stage.say(`${MOVED.length} shards are elsewhere; the instance that has not heard of it goes on for ${seconds} s`);
  await stage.wait(seconds * 1000);
  const routed = await router.stop('release');
  const { acked, ledger } = await versions.stop();
  if (!leaves) await leaveAtLast(stage);
  const time = { from, to: routed.released };
  return {
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

/** Writes a version of each row in turn, as a client that hears of moves, until it is stopped. */
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

async function moveAll(stage: Stage, store: OpenStore, leaves: boolean): Promise<ReadonlyMap<number, number>> {
  const moves = await openMoves(stage, store);
  using mover = await startMover(stage, leaves ? {} : { access: stage.without('leaving') });
  const from = new Map<number, number>();
  for (const shard of MOVED) {
    await moves.operations.createMove({ shard, to: stage.groupInTurn(shard + 1), switch: true });
    await moves.until([shard], isFollowing(1));
    from.set(shard, Date.now());
  }
  if (leaves) {
    // Of one shard the former group has nothing any more, of the others their copies.
    await moves.operations.completeMove({ shard: 0 });
    await moves.until([0], ({ step }) => step === 'completed');
  }
  await mover.stop();
  return from;
}

/** What is inspected in the end is on one group alone. */
async function leaveAtLast(stage: Stage): Promise<void> {
  const sql = `UPDATE ${CONTROL}.shard SET state = 'moved' WHERE datastore = ? AND shard = ?`;
  for (const shard of MOVED)
    await withClient(stage.access.groups, stage.groupInTurn(shard), (client) =>
      client.change({ sql, parameters: [DATASTORE, shard] }),
    );
}
