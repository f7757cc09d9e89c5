import { DATASTORE } from '../support/store-access.ts';
import type { Bench, BenchWorld, Findings, LinePlot } from './bench.ts';
import { GROUPS, SHARDS, startFilledStore } from './growth/filled-store.ts';
import { DRIVER_INDEX, numberedTrips } from './growth/numbered-trips.ts';
import { linePlot } from './rows-and-plots.ts';
import { judgeMinutes } from './soak/judge-minutes.ts';
import { MEBIBYTE, runSoak, type WatchedMinute } from './soak/run-soak.ts';

/** Trips that are there at the start. */
const WRITTEN = 50_000;
const MINUTES = 10;
const MINUTE_SECONDS = 60;
const SHARE = 0.7;

/**
 * Whether a store that works for a while gets slower, or larger. Its process holds the load, too; the drain and the
 * topology are in this one.
 */
export const soakBench: Bench = {
  name: 'soak',
  what: `p99 and memory by the minute, ${MINUTES} minutes at ${SHARE * 100} % of the peak of a mixed load: ${GROUPS} groups, ${SHARDS} shards`,
  apart: true,
  limitMinutes: 14,

  async measure(world: BenchWorld): Promise<Findings> {
    await using filled = await startFilledStore(world, {
      index: DRIVER_INDEX,
      cells: numberedTrips(DATASTORE, WRITTEN),
      connections: 1,
    });
    const { servers, engine, access } = filled;
    world.say(`${WRITTEN.toLocaleString('en-US')} trips are there`);
    const pids = servers.status().map(({ pid }) => pid);
    const soaked = await runSoak(
      { access, seed: world.seed, written: WRITTEN, minutes: MINUTES, minuteSeconds: MINUTE_SECONDS, share: SHARE },
      pids,
      world,
    );
    return { measured: judgeMinutes(soaked, SHARE, engine), plots: plotsOf(soaked.minutes) };
  },
};

function plotsOf(minutes: readonly WatchedMinute[]): readonly LinePlot[] {
  const line = (name: string, valueOf: (minute: WatchedMinute) => number): LinePlot['lines'][number] => ({
    name,
    points: minutes.map((minute, position): readonly [number, number] => [position + 1, valueOf(minute)]),
  });
  const memory = { x: 'minute', y: 'MiB' };
  return [
    linePlot(`Latency at ${SHARE * 100} % of the peak`, { x: 'minute', y: 'milliseconds' }, [
      line('p50', ({ p50 }) => p50),
      line('p99', ({ p99 }) => p99),
      line('p99 of a bare client', ({ bareP99 }) => bareP99),
    ]),
    linePlot("Memory of the store's process", memory, [
      line('after a garbage collection', ({ residentBytes }) => residentBytes / MEBIBYTE),
    ]),
    linePlot('Memory of the database servers', memory, [
      line('all of them', ({ serverBytes }) => serverBytes / MEBIBYTE),
    ]),
  ];
}
