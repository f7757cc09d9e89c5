import { setTimeout as sleep } from 'node:timers/promises';
import { openHolderDrain, type HolderDrain } from '../../shared/drain/drain-holder.ts';
import { laneTurn, type DrainReport, type DrainSettings } from '../../shared/drain/drain-lane.ts';
import type { StoreContext } from '../../shared/access/context.ts';

/**
 * Goes once through one group's buffer table, the lanes of all primaries side by side, until nothing of it is due
 * before a pause: rows that wait for a reader, a shard that is refused, a primary that is away.
 *
 * @param mayGoOn asked before each turn of a lane
 * @param drain the one that went through the table before, which knows how old the rows are, and where it stands
 *   @default one that sees it for the first time
 */
export async function drainPass(
  context: StoreContext,
  holder: string,
  mayGoOn: () => boolean,
  settings: DrainSettings = {},
  drain?: HolderDrain,
): Promise<DrainReport> {
  const going = drain ?? (await openHolderDrain(context, holder, settings));
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

/** The same, of all that waits, however young it is, as quickly as can be. */
export function drainAtOnce(context: StoreContext, holder: string): Promise<DrainReport> {
  return drainPass(context, holder, () => true, { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000 });
}
