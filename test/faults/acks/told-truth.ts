import { addressOf, compareKept, markOf, readCellsThere, storedLogs, type CellsThere } from '../stored-cells.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { onEachShard } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess, type StoreAccess } from '../../support/store-access.ts';
import { withoutIt } from '../without/protections.ts';
import { grouped, type Check } from '../fault-run.ts';
import { otherFaults, untilBuffersEmpty, type Aftermath } from '../aftermath.ts';
import type { Mix } from '../load/cell-source.ts';
import type { Loaded } from '../load/load-thread.ts';
import { allWritten } from '../load/ledger.ts';
import type { Stage } from '../stage.ts';
import { judgeAnswers, type Judged } from './judge-answers.ts';
import type { BufferOperations } from '../../../shared/api/buffer.ts';

const WRITERS = 16;
/** About one cell in ten is a repeat, not counting retries of unclear writes. */
export const MIX: Mix = { batchShare: 0.2, batchSize: 6, repeatShare: 0.1 };
const CELLS = 5500;
const LEAST_CELLS = 5000;
const OTHER_SHARE = 0.05;
const CONTROL_CELLS = 1500;
/** Some retries come at once, others after the drain: it takes rows that are two seconds old. */
const AGAIN = { leastMs: 20, mostMs: 4000, wholeMs: 60_000 };
/** The patience for a busy machine. */
const PATIENCE_MS = 600_000;

export async function writeUntilTold(stage: Stage, access: StoreAccess): Promise<Loaded> {
  const load = await stage.load({ access, writers: WRITERS, cells: MIX, again: AGAIN, otherShare: OTHER_SHARE });
  await load.untilAcked(CELLS, PATIENCE_MS);
  return load.stop();
}

type Truth = Awaited<ReturnType<typeof judgeTruth>>;

export async function judgeTruth(
  stage: Stage,
  loads: readonly Pick<Loaded, 'written'>[],
  { answers }: Pick<Loaded, 'answers'>,
) {
  const { groups } = stage.access;
  const { datastore } = await stage.open();
  await untilBuffersEmpty(datastore, PATIENCE_MS, stage.world.signal);
  const there = await readCellsThere(groups);
  const conflicts = await discardConflicts(datastore, there);
  return {
    aftermath: await stage.inspect(allWritten(loads.map(({ written }) => written))),
    judged: judgeAnswers(answers, there),
    conflicts,
    there,
  };
}

type TruthControls = Awaited<ReturnType<typeof truthControls>>;

/** First writers do not retry unclear writes; then they do, on tables that do not prevent duplicates. */
export async function truthControls(stage: Stage, access: StoreAccess) {
  const { groups } = stage.access;
  const { seed } = stage.world;
  const write = async (varied: Parameters<Stage['load']>[0]): Promise<Loaded> => {
    const load = await stage.load(varied);
    await load.untilAcked(CONTROL_CELLS, PATIENCE_MS);
    return load.stop();
  };
  const common = { writers: WRITERS, cells: MIX };
  const once = await write({ ...common, seed: `${seed} once`, access: { ...access, wrap: withoutIt('secondTry') } });
  const { untold } = judgeAnswers(once.answers, await readCellsThere(groups));
  await dropUniqueKeys(groups);
  const withoutKey = { ...access, wrap: withoutIt('leavingOut') };
  const again = await write({ ...common, seed: `${seed} no key`, access: withoutKey, again: AGAIN });
  const { doubled } = compareKept(again.written.acked, await storedLogs(groups));
  const { untrue } = judgeAnswers(again.answers, await readCellsThere(groups));
  return { untold, ofCells: once.written.acked.length, doubled, untrue };
}

export function toldCheck({ untold, open }: Judged, control: Pick<TruthControls, 'untold' | 'ofCells'>): Check {
  return {
    what: 'cells on the primary whose writer was told less; nothing certain; control: no second try',
    result: `${untold}; ${open}`,
    bar: '0; 0',
    passed: untold + open === 0,
    control: { result: `${grouped(control.untold)} of ${grouped(control.ofCells)}`, failed: control.untold > 0 },
  };
}

/** Checks that each acknowledged cell is there, once and intact. @param isBroken whether answers were really cut off */
export function wholeCheck({ aftermath, judged, conflicts }: Truth, control: TruthControls, isBroken: boolean): Check {
  const untrue = judged.untrue + conflicts.wrong;
  const check = untrueCheck({ aftermath, untrue }, LEAST_CELLS);
  return {
    ...check,
    passed: check.passed && isBroken,
    control: {
      result: `${grouped(control.doubled)} doubled, ${grouped(control.untrue)} untrue`,
      failed: control.doubled > 0 && control.untrue > 0,
    },
  };
}

/** Returns the check without its control. */
export function untrueCheck(
  { aftermath, untrue }: { readonly aftermath: Aftermath; readonly untrue: number },
  least: number,
): Omit<Check, 'control'> {
  const { lost, acked, faults } = aftermath;
  const { doubled = 0 } = faults;
  const all = otherFaults(aftermath);
  return {
    what: 'acknowledged cells lost, doubled; answers untrue; other faults; control: no unique key',
    result: `${lost}, ${doubled}; ${untrue}; ${all - doubled} of ${grouped(acked)}`,
    bar: `0, 0; 0; 0 of at least ${grouped(least)}`,
    passed: lost + untrue + all === 0 && acked >= least,
  };
}

const PAGE = 1000;

/** Compares the kept conflicts with the cells on the primaries, and discards them. */
async function discardConflicts(operations: BufferOperations, there: CellsThere) {
  let [kept, wrong] = [0, 0];
  for (;;) {
    const { conflicts } = await operations.listBufferConflicts({ limit: PAGE });
    if (conflicts.length === 0) return { kept, wrong };
    kept += conflicts.length;
    const isWrong = (mark: number, other = mark): boolean => other === mark;
    wrong += conflicts.filter((one) => isWrong(markOf(one), there.get(addressOf(one))?.mark)).length;
    await operations.discardBufferConflicts({ ids: conflicts.map(({ id }) => id) });
  }
}

/** Drops the unique keys that prevent duplicates. The key by which statements read stays. */
export async function dropUniqueKeys(groups: readonly GroupAccess[]): Promise<void> {
  await onEachShard(groups, (client, shard) =>
    client.change({
      sql: `ALTER TABLE ${entityTable(DATASTORE, shard)} DROP KEY cell, ADD KEY cell (row_key, column_name, ref_key)`,
      parameters: [],
    }),
  );
}
