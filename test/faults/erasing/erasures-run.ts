import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rowKeyOf } from '../../../shared/address.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { erasureManagement } from '../../../shared/erasures/erasure-management.ts';
import { runErasures } from '../../../shared/erasures/run-erasures.ts';
import { moveManagement } from '../../../shared/moves/move-management.ts';
import { runMoves } from '../../../shared/moves/run-moves.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { indexOn } from '../../support/index-on.ts';
import { Random } from '../../support/random.ts';
import { onEachGroup } from '../../support/past-the-store.ts';
import { DATASTORE, type OpenStore } from '../../support/store-access.ts';
import { aftermathNotes, faultsLine, otherFaults, type Aftermath } from '../aftermath.ts';
import { countsLine, grouped, noneOf, sumOf, type FaultRun, type RunWorld } from '../fault-run.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { inspectLosses } from '../losses/lose-disk.ts';
import { loseDisk } from '../losses/lose-disk.ts';
import { startRepair } from '../indexes/race.ts';
import { Stage } from '../stage.ts';
import { cellOfMark, doomRows, isBack, type DoomProgress, type Doomed, type DoomedRows } from './doom.ts';

const INDEX = indexOn('by_mark', { mark: 'string' });
const CLUSTER = {
  groups: 3,
  readers: 2,
  shards: 24,
  promotes: true,
  restartAfterSeconds: 1,
  indexes: [INDEX],
};
const WRITERS = 6;
const LEAST_CELLS = 2000;
const LEAST_ERASED = 1000;
const CONTROL_MS = 8000;
const LAG_MS = 4000;
const PATIENCE_MS = 120_000;
const LEASE_MS = 3000;
const EXAMPLES = 6;

export const erasuresRun: FaultRun = {
  name: 'erasures',
  promise: 'What was erased never comes back, and nothing else is lost',
  fault: `rows erased while their writes are repeated, under ${WRITERS} other writers and a drain: each group's writer killed, one of them with its disk while the promoted reader lacks the last ${LAG_MS / 1000} s, and shards moved meanwhile`,
  control: 'appends that heed no erasure; no buffer',
  alone: true,

  async run(world) {
    const real = await eraseAmidFaults(world);
    world.say(`the control: ${erasuresRun.control}`);
    const control = await controls(world);
    const { doomed, aftermath } = real;
    const confirmed = sumOf(doomed.rows.map((row) => row.confirmed));
    const sent = sumOf(Object.values(doomed.after));
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
          { wrong: doomed.accepted.length, of: sent },
          { wrong: control.doomed.accepted.length, of: sumOf(Object.values(control.doomed.after)) },
        ),
        noneOf(
          'cells of other rows lost, other faults',
          LEAST_CELLS,
          { wrong: aftermath.lost + otherFaults(aftermath), of: aftermath.acked },
          { wrong: control.aftermath.lost, of: control.aftermath.acked },
        ),
        noneOf(
          'erasures that were not done in the end',
          LEAST_ERASED / 4,
          { wrong: real.open, of: doomed.rows.length },
          // Those of a stage where nobody goes on with them.
          { wrong: control.open, of: control.doomed.rows.length },
        ),
      ],
      cells: aftermath.acked + confirmed,
      engine: real.engine,
      notes: [
        `${grouped(doomed.rows.length)} erasures of ${grouped(confirmed)} confirmed cells; answered ${countsLine(doomed.answers)}`,
        `writes after them: ${countsLine(doomed.after)}`,
        ...real.examples,
        `moves of shards meanwhile: ${real.moves}`,
        ...aftermathNotes(aftermath),
        `control: writes after erasures: ${countsLine(control.doomed.after)}; ${grouped(control.back)} bodies back`,
        `control: ${faultsLine(control.aftermath)}`,
      ],
    };
  },
};

interface Erased {
  readonly doomed: DoomedRows;
  readonly aftermath: Aftermath;
  /** Bodies of erased cells that were found: where, the first of them. */
  readonly back: number;
  readonly examples: readonly string[];
  /** Erasures that were not done. */
  readonly open: number;
}

async function eraseAmidFaults(world: RunWorld) {
  await using stage = await Stage.start(world, 'erasures/real', CLUSTER);
  await using store = await stage.open();
  await stage.drain();
  // What was lost with a disk has entries still, until the index is compared.
  using repair = await startRepair(stage, stage.access);
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS });
  const ending = new AbortController();
  const goingOn = goOn(store, ending.signal);
  const gate: Gate = { isClosed: false, isIdle: true };
  const moving = moveAround(stage, store, gate, ending.signal);
  const dooming = new AbortController();
  const progress: DoomProgress = { confirmed: 0, after: 0 };
  const doomed = doomRows({
    store,
    erasures: await erasuresOf(store),
    random: new Random(world.seed, 'erasures', 0),
    progress,
    signal: dooming.signal,
  });
  await stage.wait(3000);
  for (let number = 0; number < CLUSTER.groups; number += 1) {
    world.say(`kill -9 of ${await stage.kill(stage.groupInTurn(number))}`);
    await stage.wait(4000);
    await stage.untilAllRun();
  }
  const random = new Random(world.seed, 'losses', 0);
  // Whoever looks at what a server lacks knows no shard that goes away meanwhile.
  gate.isClosed = true;
  await stage.comes(() => gate.isIdle, { patienceMs: PATIENCE_MS, pollMs: 50 });
  const loss = await loseDisk(stage, { group: stage.groupInTurn(1), random, lagMs: LAG_MS });
  gate.isClosed = false;
  const isEnough = (): boolean => progress.confirmed >= LEAST_ERASED && progress.after >= LEAST_ERASED;
  await stage.comes(isEnough, { patienceMs: PATIENCE_MS, pollMs: 200 });
  dooming.abort();
  const rows = await doomed;
  await load.untilAcked(LEAST_CELLS);
  const { written } = await load.stop();
  await stage.untilAllRun();
  const open = await openInTheEnd(stage, store);
  const { aftermath } = await inspectLosses(stage, written, [loss]);
  ending.abort();
  await goingOn;
  const moves = await moving;
  let found = await bodiesBack(stage, rows.rows);
  await stage.comes(async () => (found = await bodiesBack(stage, rows.rows)).back === 0, { patienceMs: 60_000 });
  await repair.stop();
  return { doomed: rows, aftermath, open, moves, ...found, engine: stage.engine };
}

async function controls(world: RunWorld): Promise<Erased> {
  await using stage = await Stage.start(world, 'erasures/control', CLUSTER);
  const access = stage.without('tombstones');
  await using store = await stage.open(access);
  await stage.drain({ access });
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS, access: { ...access, bufferCopies: 0 } });
  const dooming = new AbortController();
  const doomed = doomRows({
    store,
    erasures: await erasuresOf(store),
    random: new Random(world.seed, 'erasures', 1),
    signal: dooming.signal,
  });
  // One group is away, so that not all erasures are done at once, and what is written is buffered.
  const group = stage.groupInTurn(0);
  await stage.wait(CONTROL_MS / 2);
  world.say(`kill -9 of ${await stage.kill(group)}`);
  await stage.wait(CONTROL_MS / 2);
  dooming.abort();
  const rows = await doomed;
  const random = new Random(world.seed, 'losses', 1);
  await loseDisk(stage, { group: stage.groupInTurn(1), random, lagMs: LAG_MS });
  const { written } = await load.stop();
  await stage.untilAllRun();
  const aftermath = await stage.inspect(written);
  const open = (await (await erasuresOf(store)).erasures({ open: true, limit: 1000 })).erasures.length;
  return { doomed: rows, aftermath, open, ...(await bodiesBack(stage, rows.rows)) };
}

const erasuresOf = ({ context, topologyTable, stateTable, name }: OpenStore) =>
  erasureManagement({ context, topologyTable, stateTable, backupDays: 0 }).erasures(name, 'a fault run');

/** Goes on with what is open, as the scheduled function does. */
async function goOn({ context, topologyTable, stateTable }: OpenStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    await runErasures({
      context,
      topologyTable,
      stateTable,
      backupDays: 0,
      leases: leases(stateTable, randomUUID(), LEASE_MS),
      deadline: Date.now() + 60_000,
      lookMs: 1000,
      signal,
    });
}

/** No move is begun while it is closed. */
interface Gate {
  isClosed: boolean;
  isIdle: boolean;
}

/** Moves one shard after the other to another group, until the signal. Returns how many it moved. */
async function moveAround(stage: Stage, store: OpenStore, gate: Gate, signal: AbortSignal): Promise<number> {
  const { context, topologyTable, stateTable, name } = store;
  const operations = await moveManagement({ context, topologyTable, stateTable }).moves(name);
  const moving = runMoves({
    context,
    topologyTable,
    stateTable,
    leases: leases(stateTable, randomUUID(), LEASE_MS),
    deadline: Date.now() + 3_600_000,
    staysIdle: true,
    settings: { announcedMs: 700, turnMs: 500, share: 0.8 },
    signal,
  });
  let moved = 0;
  while (!signal.aborted) {
    gate.isIdle = gate.isClosed;
    if (gate.isClosed) {
      await sleep(50);
      continue;
    }
    const shard = (moved * 7) % CLUSTER.shards;
    const from = (await context.topology.datastore(name))?.homes[shard]?.group ?? '';
    const others = stage.access.groups.map((group) => group.name).filter((group) => group !== from);
    // Every other one keeps its copy.
    const completes = moved % 2 === 0 ? { complete_after_seconds: 2 } : {};
    await operations
      .createMove(shard, others[moved % others.length] ?? '', { switch: true, ...completes })
      .catch(() => undefined);
    for (;;) {
      const move = await operations.move(shard).catch(() => undefined);
      if (signal.aborted || move?.step === 'completed' || (moved % 2 === 1 && move?.switches === 1)) break;
      await sleep(100);
    }
    if (!signal.aborted) moved += 1;
  }
  await moving;
  return moved;
}

/** How many are left once they have had their time. */
async function openInTheEnd(stage: Stage, store: OpenStore): Promise<number> {
  const operations = await erasuresOf(store);
  let open: readonly { readonly waits_for: string | null }[] = [];
  await stage.comes(
    async () => {
      open = (await operations.erasures({ open: true, limit: 1000 })).erasures;
      return open.length === 0;
    },
    { patienceMs: PATIENCE_MS, pollMs: 500 },
  );
  for (const { waits_for } of open.slice(0, 3)) stage.world.say(`  not done: ${waits_for}`);
  return open.length;
}

/**
 * Bodies of erased cells, on every node, in every table of the datastore and of copies of its shards, in buffers, and live
 * entries of indexes, past the store. Not those of copies of index tables: they miss what failed there until they become
 * the shard's, and are brought it then.
 */
async function bodiesBack(stage: Stage, rows: readonly Doomed[]): Promise<Pick<Erased, 'back' | 'examples'>> {
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
      for (const [schema, name] of tables) {
        const table = `\`${toText(schema)}\`.\`${toText(name)}\``;
        const where = `node ${node} of ${group}, ${table}`;
        if (toText(name).startsWith(INDEX.name)) {
          if (toText(schema).endsWith('_copy')) continue;
          for (const [mark] of await rowsOf(`SELECT f0 FROM ${table} WHERE tombstone_at IS NULL`)) {
            const cell = cellOfMark(toText(mark));
            if (cell) add(where, cell);
          }
          continue;
        }
        const which = toText(name) === 'entity' ? " AND LEFT(body, 1) <> X'00'" : '';
        for (const [row_key, column_name, ref_key] of await rowsOf(
          `SELECT row_key, column_name, ref_key FROM ${table} WHERE column_name >= X'02'${which}`,
        ))
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
