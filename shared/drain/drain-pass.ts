import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreContext } from '../store/context.ts';
import { openHolderDrain, type HolderDrain } from './drain-holder.ts';
import { laneTurn } from './drain-lane.ts';
import type { DrainReport, DrainSettings } from './drain-settings.ts';

/**
 * Goes once through one group's buffer table, shard by shard, the lanes of all primaries side by side: deletes what all
 * nodes of its primary show, appends to the primary what is missing there, marks what lost against another body. One
 * bad row, shard or primary never stops the rest.
 *
 * @param mayGoOn asked before each turn of a lane
 * @param drain the one that went through the table before, which knows how old the rows are, and where it stands @default one that sees it for the first time
 */
export async function drainPass(context: StoreContext, holder: string, mayGoOn: () => boolean, settings: DrainSettings = {}, drain?: HolderDrain): Promise<DrainReport> {
  const { lanes, watch, report } = drain ?? (await openHolderDrain(context, holder, settings));
  await watch();
  await Promise.all(
    [...lanes.values()].map(async (lane) => {
      lane.turns.begin();
      while (mayGoOn() && !lane.turns.isSwept()) {
        const wait = await laneTurn(lane);
        if (wait > 0 && !lane.turns.isSwept()) await sleep(wait);
      }
    }),
  );
  return report();
}
