import type { StoreAccess } from '../../support/store-access.ts';
import type { Stage } from '../stage.ts';
import { NEW_CELLS, type Mix } from './cell-source.ts';
import type { Written } from './ledger.ts';
import type { Load } from './start-load.ts';

const WRITERS = 16;
const SECONDS = 4;
const WARM_UP_SECONDS = 6;
/** The share of the machine's capacity: the rest is for the drain, for replication, and for other users. */
const SHARE = 1 / 3;
/** Enough for a 99th percentile of every phase. */
const MOST = 240;
const LEAST = 10;

interface PacedLoad extends Load {
  /** Puts a second. */
  readonly perSecond: number;
  /** The writes that measured it. */
  readonly before: Written;
}

/** Starts puts of new cells at a steady rate, regardless of their answers. */
export function pacedLoad(stage: Stage, perSecond: number, access?: StoreAccess): Promise<Load> {
  return stage.load({ writers: 1, perSecond, cells: NEW_CELLS, ...(access && { access }) });
}

/** Starts the same, warm, at a rate that this machine bears with ease, which it measures. */
export async function bearableLoad(stage: Stage): Promise<PacedLoad> {
  const seed = `${stage.world.seed} at full speed`;
  const full = await stage.load({ writers: WRITERS, cells: NEW_CELLS, seed });
  await stage.wait(SECONDS * 1000);
  const { written: before } = await full.stop();
  const perSecond = Math.round(Math.min(MOST, Math.max(LEAST, (before.acked.length / SECONDS) * SHARE)));
  const load = await pacedLoad(stage, perSecond);
  await stage.wait(WARM_UP_SECONDS * 1000);
  return Object.assign(load, { perSecond, before });
}

/** Puts of new cells, and one repeat in ten: of an earlier cell, or of one that is under way. */
const MIX: Mix = { batchShare: 0, batchSize: 1, repeatShare: 0.1 };
/** Some retries come at once, others when the server is back; most buffered writes are the drain's alone. */
const AGAIN = { leastMs: 200, mostMs: 8000, wholeMs: 90_000, ofBuffered: 0.15 };

/** A load of writers that keep their pace, regardless of their answers. */
export const STEADY = { cells: MIX, again: AGAIN };
/** In its first seconds modules are compiled and connections opened. */
export const WARM_UP_MS = 3000;
