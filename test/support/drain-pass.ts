import { setTimeout as sleep } from 'node:timers/promises';
import { openHintDrain, type HintDrain } from '../../shared/drain/hint-drain.ts';
import { laneTurn, type DrainReport, type DrainSettings } from '../../shared/drain/drain-lane.ts';
import type { StoreContext } from '../../shared/access/context.ts';

/**
 * Goes once through one group's buffer table, with the lanes of all primaries in parallel. Ends when nothing is due
 * before a pause: rows wait for a reader, a shard is refused, or a primary is unavailable.
 *
 * @param mayGoOn asked before each turn of a lane
 * @param drain of an earlier pass, which knows the ages of the rows, and its position
 *   @default a new one
 */
export async function drainPass(
  context: StoreContext,
  holder: string,
  mayGoOn: () => boolean,
  settings: DrainSettings = {},
  drain?: HintDrain,
): Promise<DrainReport> {
  const going = drain ?? (await openHintDrain(context, holder, settings));
  await going.watch();
  await Promise.all(
    [...going.lanes.values()].map(async (lane) => {
      // Clock: the drain's own pause between turns.
      await sleep(Math.max(0, lane.turns.wait()));
      while (mayGoOn() && (await laneTurn(lane)) <= 0);
    }),
  );
  return going.report();
}

/** Drains all hints, however young, at full speed. */
export function drainAtOnce(context: StoreContext, holder: string): Promise<DrainReport> {
  return drainPass(context, holder, () => true, { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000 });
}
