import { rowKeyOf } from '../../../shared/address.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { runMoves } from '../../../shared/moves/run-moves.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { randomUUID } from 'node:crypto';
import { indexOn } from '../../support/index-on.ts';
import { onEachGroup } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, type OpenStore } from '../../support/store-access.ts';
import { wrongOf } from '../aftermath.ts';
import { countsLine, grouped, noneOf, sumOf } from '../fault-run.ts';
import { startRepair } from '../indexes/race.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { inspectLosses, loseDisk } from '../losses/lose-disk.ts';
import { openMoves } from '../moves/moving.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { cellOfMark, doomRows, isBack, type DoomProgress, type Doomed } from './doom.ts';
import { erasing, goOnErasing, LEASE_MS, moveAround, type Gate } from './going-on.ts';

const INDEX = indexOn('by_mark', { mark: 'string' });
const [GROUPS, SHARDS] = [3, 24];
const WRITERS = 6;
const LEAST_CELLS = 2000;
const LEAST_ERASED = 1000;
const CONTROL_MS = 8000;
const LAG_MS = 4000;
const PATIENCE_MS = 600_000;
const EXAMPLES = 6;

export const erasuresRun = stagedRun({
  name: 'erasures',
  promise: 'Erased cells never come back, and no others are lost',
  fault: `rows erased under repeated writes, ${WRITERS} other writers and a drain; each group's writer killed, one with its disk while the promoted reader lags ${LAG_MS / 1000} s; shards moved`,
  control: 'appends that check for no erasure; no buffer',
  alone: true,
  servers: { groups: GROUPS, readers: 2, shards: SHARDS, promotes: true, restartAfterSeconds: 1, indexes: [INDEX] },
  controlServers: {},
  real: eraseAmidFaults,
  without: eraseUnchecked,
  judge(real, control) {
    const { doomed, aftermath } = real;
    const confirmed = sumOf(doomed.rows.map((row) => row.confirmed));
    const accepted = ({ doomed: { accepted, after } }: Pick<typeof real, 'doomed'>) => ({
      wrong: accepted.length,
      of: sumOf(Object.values(after)),
    });
    return {
      checks: [
        noneOf(
          'erased bodies in any table of any server, and in any buffer, in the end',
          LEAST_ERASED,
          { wrong: real.back, of: confirmed },
          { wrong: control.back, of: confirmed },
        ),
        noneOf(
          'writes that were stored where something had been erased',
          LEAST_ERASED,
          accepted(real),
          accepted(control),
        ),
        noneOf('cells of other rows lost, other faults', LEAST_CELLS, wrongOf(aftermath), {
          wrong: control.aftermath.lost,
          of: control.aftermath.acked,
        }),
        noneOf(
          'erasures that were not done in the end; control: nothing goes on with them',
          LEAST_ERASED / 4,
          { wrong: real.open, of: doomed.rows.length },
          { wrong: control.open, of: control.doomed.rows.length },
        ),
      ],
      cells: aftermath.acked + confirmed,
      notes: [
        `${grouped(doomed.rows.length)} erasures of ${grouped(confirmed)} confirmed cells; answered ${countsLine(doomed.answers)}`,
        `writes after them: ${countsLine(doomed.after)}`,
        ...real.examples,
        `moves of shards meanwhile: ${real.moves}`,
        `control: writes after erasures: ${countsLine(control.doomed.after)}; ${grouped(control.back)} bodies back`,
      ],
    };
  },
});

async function eraseAmidFaults(stage: Stage) {
  const { seed } = stage.world;
  const store = await stage.open();
  await stage.drain();
  // Cells lost with a disk still have entries, until the index is compared.
  using repair = await startRepair(stage, stage.access);
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS });
  const ending = new AbortController();
  const goingOn = goOnErasing(store, ending.signal);
  const gate: Gate = { isClosed: false, isIdle: true };
  const moving = moveShards(stage, store, gate, ending.signal);
  const dooming = new AbortController();
  const progress: DoomProgress = { confirmed: 0, after: 0 };
  const doomed = doomRows({
    store,
    erasures: await erasing(store),
    random: new Random(seed, 'erasures', 0),
    progress,
    signal: dooming.signal,
  });
  await stage.wait(3000);
  for (let number = 0; number < GROUPS; number += 1) {
    stage.say(`kill -9 of ${await stage.kill(stage.groupInTurn(number))}`);
    await stage.wait(4000);
    await stage.untilAllRun();
  }
  // No moves from here on: the comparison of servers expects each shard to stay.
  gate.isClosed = true;
  await stage.comes(() => gate.isIdle, { patienceMs: PATIENCE_MS, pollMs: 50 });
  const loss = await loseDisk(stage, {
    group: stage.groupInTurn(1),
    random: new Random(seed, 'losses', 0),
    lagMs: LAG_MS,
  });
  gate.isClosed = false;
  const isEnough = (): boolean => progress.confirmed >= LEAST_ERASED && progress.after >= LEAST_ERASED;
  await stage.comes(isEnough, { patienceMs: PATIENCE_MS, pollMs: 200 });
  dooming.abort();
  const rows = await doomed;
  await load.untilAcked(LEAST_CELLS);
  const { written } = await load.stop();
  await stage.untilAllRun();
  await stage.comes(async () => (await countOpen(stage, store)) === 0, { patienceMs: PATIENCE_MS, pollMs: 500 });
  const open = await countOpen(stage, store);
  const { aftermath } = await inspectLosses(stage, written, [loss]);
  ending.abort();
  await goingOn;
  const moves = await moving;
  let found = await bodiesBack(stage, rows.rows);
  await stage.comes(async () => (found = await bodiesBack(stage, rows.rows)).back === 0, { patienceMs: 60_000 });
  await repair.stop();
  return { doomed: rows, aftermath, open, moves, ...found };
}

async function eraseUnchecked(stage: Stage) {
  const { seed } = stage.world;
  const access = stage.without('tombstones');
  const store = await stage.open(access);
  await stage.drain({ access });
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS, access: { ...access, bufferCopies: 0 } });
  const dooming = new AbortController();
  const doomed = doomRows({
    store,
    erasures: await erasing(store),
    random: new Random(seed, 'erasures', 1),
    progress: { confirmed: 0, after: 0 },
    signal: dooming.signal,
  });
  // One group is down, so that some erasures are delayed, and writes are buffered.
  await stage.wait(CONTROL_MS / 2);
  stage.say(`kill -9 of ${await stage.kill(stage.groupInTurn(0))}`);
  await stage.wait(CONTROL_MS / 2);
  dooming.abort();
  const rows = await doomed;
  await loseDisk(stage, { group: stage.groupInTurn(1), random: new Random(seed, 'losses', 1), lagMs: LAG_MS });
  const { written } = await load.stop();
  await stage.untilAllRun();
  const aftermath = await stage.inspect(written);
  return { doomed: rows, aftermath, open: await countOpen(stage, store), ...(await bodiesBack(stage, rows.rows)) };
}

async function countOpen(stage: Stage, store: OpenStore): Promise<number> {
  const { erasures } = await (await erasing(store)).listErasures({ open: true, limit: 1000 });
  if (erasures.length > 0) stage.say(`  ${erasures.length} erasures open, the first for ${erasures[0]?.waits_for}`);
  return erasures.length;
}

async function moveShards(stage: Stage, store: OpenStore, gate: Gate, signal: AbortSignal): Promise<number> {
  const { context, topologyTable, stateTable, name } = store;
  const { operations } = await openMoves(stage, store);
  const running = runMoves({
    context,
    topologyTable,
    stateTable,
    leases: leases(stateTable, randomUUID(), LEASE_MS),
    deadline: Date.now() + 3_600_000,
    staysIdle: true,
    settings: { announcedMs: 700, turnMs: 500, share: 0.8 },
    signal,
  });
  const moved = await moveAround({
    operations,
    shards: SHARDS,
    groups: stage.access.groups.map((group) => group.name),
    homeOf: async (shard) => (await context.topology.datastore(name))?.homes[shard]?.group,
    keeps: true,
    gate,
    signal,
  });
  await running;
  return moved;
}

/**
 * Counts bodies of erased cells, past the store: on every node, in every table of the datastore, in copies of its
 * shards, in buffers, and in live index entries. Not in copies of index tables: they lack failed changes until they
 * become the shard's, and get them then.
 */
async function bodiesBack(stage: Stage, rows: readonly Doomed[]) {
  const byRow = new Map(rows.map((row) => [row.target.row_key, row]));
  const found = await onEachGroup(stage.access.groups, async (client, group) => {
    const back: string[] = [];
    const add = (where: string, cell: Parameters<typeof isBack>[1]): void => {
      if (isBack(byRow, cell))
        back.push(`${where}: ${Object.values(cell).join('/')}, erased as ${JSON.stringify(byRow.get(cell.row_key))}`);
    };
    for (let node = 0; node < client.nodes; node += 1) {
      const rowsOf = (sql: string) => client.select({ sql, parameters: [] }, { node });
      const tables = await rowsOf(
        `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE '${DATASTORE}\\_%' OR (table_schema = 'schemaless' AND table_name IN ('buffer', 'drained'))`,
      );
      for (const [schemaName, tableName] of tables) {
        const [schema, name] = [toText(schemaName), toText(tableName)];
        const table = `\`${schema}\`.\`${name}\``;
        const where = `node ${node} of ${group}, ${table}`;
        if (name.startsWith(INDEX.name)) {
          if (schema.endsWith('_copy')) continue;
          for (const [mark] of await rowsOf(`SELECT f0 FROM ${table} WHERE tombstone_at IS NULL`)) {
            const cell = cellOfMark(toText(mark));
            if (cell) add(where, cell);
          }
          continue;
        }
        const which = name === 'entity' ? " AND LEFT(body, 1) <> X'00'" : '';
        const sql = `SELECT row_key, column_name, ref_key FROM ${table} WHERE column_name >= X'02'${which}`;
        for (const [row_key, column_name, ref_key] of await rowsOf(sql))
          add(where, {
            row_key: rowKeyOf(toBytes(row_key)),
            column_name: toText(column_name),
            ref_key: toNumber(ref_key),
          });
      }
    }
    return back;
  });
  return { back: found.flat().length, examples: found.flat().slice(0, EXAMPLES) };
}
