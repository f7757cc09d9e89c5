import { bothWays, deliveryFigure, isWhole, type Part, type Setting } from './part.ts';
import { QUICK_LEASES, Scene } from './scene.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { committedOffsets } from '../../../shared/follow/follower-lag.ts';
import { triggerFollower } from '../../../shared/triggers/state/follower-name.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import type { TriggeredAccess } from '../../support/triggers/triggered-access.ts';

const LEASE_TIMES = 3;
const PAUSES = 3;
/** Between pauses, so that everybody holds its share again. */
const BETWEEN_SECONDS = 3;
/** Few, so that the offsets of all of them can be looked at often. */
const PARTITIONS = 6;
const CLOCKS_MS = 10 * 60_000;
/** So often that a successor has written its own offsets before the one that was paused goes on. */
const COMMIT_EVERY_MS = 500;

/** A holder that was paused cannot set back what its successor has done; and no clock is compared with another. */
export const pausedHolders: Part = {
  fault: `a lease holder paused for ${LEASE_TIMES} lease times, ${PAUSES} times; clocks ${CLOCKS_MS / 60_000} minutes apart`,

  async carryOut(setting) {
    const [real, control] = await bothWays('paused', (name, isReal) => pause(setting, name, isReal));
    const figure = ({ history, verdict }: typeof real): string => `${history.back}; ${deliveryFigure(verdict)}`;
    return {
      checks: [
        {
          what: `holders paused, clocks apart: offsets that went back; deliveries; control: commits not fenced`,
          figure: figure(real),
          bar: '0; 0, 0',
          passed: real.history.back === 0 && isWhole(real.verdict),
          control: { figure: figure(control), failed: control.history.back > 0 },
        },
      ],
      cells: real.verdict.due,
      notes: [`the offsets were looked at ${real.history.looks} times; control: ${control.history.looks}`],
    };
  },
};

async function pause(setting: Setting, name: string, isReal: boolean) {
  await using scene = await Scene.start(setting, {
    name,
    tailers: [0, CLOCKS_MS, 2 * CLOCKS_MS].map((clockMs) => ({
      heartbeat: QUICK_LEASES,
      partitions: PARTITIONS,
      settings: { commitEveryMs: COMMIT_EVERY_MS },
      variation: { clockMs, commitFence: isReal },
    })),
  });
  const watch = watchOffsets(scene.access, setting.stage.shards);
  for (let number = 0; number < PAUSES; number += 1) {
    await scene.wait(BETWEEN_SECONDS);
    const tailer = scene.tailers[number % scene.tailers.length];
    tailer?.pause();
    await scene.wait((LEASE_TIMES * QUICK_LEASES.silenceMs) / 1000);
    tailer?.resume();
  }
  await scene.wait(BETWEEN_SECONDS);
  const verdict = await scene.conclude({ isReal });
  const history = await watch.stop();
  await scene.end();
  return { verdict, history };
}

/** What the offsets of a trigger did while they were looked at. */
export interface OffsetHistory {
  readonly looks: number;
  /** How often a shard's offset was lower than before. */
  readonly back: number;
}

/** Far more often than a worker commits: what goes back is seen before the next commit covers it. */
const EVERY_MS = 40;

/** Looks at the committed offsets again and again, until it is stopped. */
export function watchOffsets(
  { dynamo, stateTable, trigger, datastore }: TriggeredAccess,
  shards: number,
): { stop(): Promise<OffsetHistory> } {
  const client = dynamoClient(dynamo);
  const end = new AbortController();
  const highest = Array.from({ length: shards }, () => 0);
  const seen = { looks: 0, back: 0 };
  const watching = (async () => {
    while (!end.signal.aborted) {
      // On a machine that has too much to do an answer may not come in time.
      const offsets = await committedOffsets(
        { client, table: stateTable },
        { name: triggerFollower(trigger), datastore },
        shards,
      ).catch(() => []);
      if (offsets.length > 0) seen.looks += 1;
      for (const [shard, offset = 0] of offsets.entries()) {
        if (offset < (highest[shard] ?? 0)) seen.back += 1;
        highest[shard] = offset;
      }
      await sleep(EVERY_MS, undefined, { signal: end.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      end.abort();
      await watching;
      client.destroy();
      return seen;
    },
  };
}
