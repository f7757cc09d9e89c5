import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CellDifference } from '../../../infra/cli/files/compare/compare-cells.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { inspect, type Aftermath } from '../aftermath.ts';
import { deleteTrips } from '../delete-trips.ts';
import { grouped, type RunWorld, type Share } from '../fault-run.ts';
import { allWritten, type Written } from '../load/ledger.ts';
import { addressAlone } from '../row-keys.ts';
import { lookUntil } from '../../support/look-until.ts';
import { settle } from '../soak/settle.ts';
import { addressOf, countUnreadable, type AckedCell } from '../stored-cells.ts';
import type { RestoredStack } from './restored-stack.ts';
import { FIRST_SNAPSHOT, type SetBackOne } from './set-back-one.ts';

const SNAPSHOT = 'second';
const BEFORE_MS = 4000;
const SINCE_MS = 10_000;
const SETTLE_MS = 120_000;
const SPOIL_MS = 2000;
const MOST_SPOIL_MS = 60_000;
/** Nothing comes of it however long one waits. */
const CONTROL_MS = 10_000;

/** What is there once everything was set back. */
export interface SetBackAll {
  /** Of what was acknowledged before the snapshot. */
  readonly aftermath: Aftermath;
  readonly earlier: Aftermath;
  readonly index: Share;
  readonly spoiled: Share;
  readonly unbilled: Share;
  readonly unbilledEarlier: Share;
  /** Gone cells that a comparison with the export did not name, and named ones that are there. */
  readonly named: Share;
  readonly namedBefore: Share;
  /** Of all that was ever acknowledged, before and after the export was imported. */
  readonly gone: Share;
  readonly imported: Share;
}

/** Writes on, remembers another moment, exports, and sets everything back to it. */
export async function setBackAll(world: RunWorld, stack: RestoredStack, one: SetBackOne): Promise<SetBackAll> {
  const { signal, say, folder } = world;
  const since = await stack.written('all', async () => {
    await sleep(BEFORE_MS, undefined, { signal });
    await stack.control('snapshot', SNAPSHOT);
    await sleep(SINCE_MS, undefined, { signal });
  });
  await settle(stack.data, stack.client(), SETTLE_MS, signal);
  const all = allWritten([one.written, since]);
  const path = join(folder, 'export');
  await done(stack.command('export', path));
  const before = await comparison(stack, path);

  say(`setting everything back by ${SINCE_MS / 1000} s and more`);
  await stack.restore(SNAPSHOT);
  await settle(stack.data, stack.client(), SETTLE_MS, signal);
  const look = (written: Written): Promise<Aftermath> =>
    inspect({ datastore: stack.client(), groups: stack.stack.groups, written, signal });
  const aftermath = await look(one.written);
  const there = await thoseThere(stack, since.acked);
  const unbilled = await stack.unbilled({ ...all, acked: [...one.written.acked, ...there] });
  const index = await stack.verifiedIndex();
  const gone = since.acked.filter((cell) => !there.includes(cell));
  const after = await comparison(stack, path);
  const named = await judgeNamed(stack, gone, after);
  say(`${aftermath.lost} from before lost, ${gone.length} since are gone, ${after.length} named`);

  await done(stack.command('import', path));
  const missing = await countUnreadable(stack.client(), all.acked);
  say(`${missing} of ${grouped(all.acked.length)} lost once the export is imported`);

  const spoiled = await spoil(stack, signal);
  await stack.restore(FIRST_SNAPSHOT);
  const earlier = await look(one.written);
  return {
    aftermath,
    earlier,
    index,
    spoiled,
    unbilled,
    unbilledEarlier: await stack.unbilled(one.written, CONTROL_MS),
    named,
    namedBefore: await judgeNamed(stack, gone, before),
    gone: { wrong: gone.length, of: all.acked.length },
    imported: { wrong: missing, of: all.acked.length },
  };
}

/**
 * An index that does not say what the cells say. Logs that were cut have every index compared and mended for a while: what
 * is deleted meanwhile may be mended before anybody looks, and more is deleted then.
 */
function spoil(stack: RestoredStack, signal: AbortSignal): Promise<Share> {
  const look = async (): Promise<Share> => {
    await deleteTrips(stack.stack.groups, 'group-2');
    return stack.indexNow();
  };
  return lookUntil(look, ({ wrong }) => wrong > 0, { pollMs: SPOIL_MS, patienceMs: MOST_SPOIL_MS, signal });
}

async function done(command: ReturnType<RestoredStack['command']>): Promise<void> {
  const { code, stderr } = await command;
  if (code !== 0) throw new Error(`a command ended with ${code}: ${stderr}`);
}

/** What `schemaless compare` lists. */
async function comparison(stack: RestoredStack, path: string): Promise<readonly CellDifference[]> {
  const { stdout } = await stack.command('compare', path);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CellDifference);
}

async function thoseThere(stack: RestoredStack, cells: readonly AckedCell[]): Promise<readonly AckedCell[]> {
  const items = await getAll(stack.client(), cells.map(addressAlone));
  return cells.filter((_, position) => items[position] !== null);
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
