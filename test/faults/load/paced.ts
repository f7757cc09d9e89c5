import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreAccess } from '../../support/store-access.ts';
import type { Stage } from '../stage.ts';
import { NEW_CELLS } from './cell-source.ts';
import type { Written } from './ledger.ts';
import type { Load } from './start-load.ts';

const WRITERS = 16;
const SECONDS = 4;
const WARM_UP_SECONDS = 6;
/** Of what the machine can do: the rest is for the drain, for replication, and for whoever else uses it. */
const SHARE = 1 / 3;
/** Enough for a 99th percentile of every phase. */
const MOST = 240;
const LEAST = 10;

export interface PacedLoad extends Load {
  /** Puts. */
  readonly perSecond: number;
  /** What was written to find out. */
  readonly before: Written;
}

/** Puts of new cells at a steady rate, whatever their answers take. */
export function pacedLoad(stage: Stage, perSecond: number, access?: StoreAccess): Promise<Load> {
  return stage.load({ writers: 1, perSecond, cells: NEW_CELLS, ...(access && { access }) });
}

/** The same, warm, at a rate that this machine bears with ease, which it finds out. */
export async function bearableLoad(stage: Stage): Promise<PacedLoad> {
  const { seed, signal } = stage.world;
  const full = await stage.load({
    writers: WRITERS,
    cells: NEW_CELLS,
    seed: `${seed} at full speed`,
    history: undefined,
  });
  await sleep(SECONDS * 1000, undefined, { signal });
  const { written: before } = await full.stop();
  const perSecond = Math.round(Math.min(MOST, Math.max(LEAST, (before.acked.length / SECONDS) * SHARE)));
  const load = await pacedLoad(stage, perSecond);
  await sleep(WARM_UP_SECONDS * 1000, undefined, { signal });
  return Object.assign(load, { perSecond, before });
}
