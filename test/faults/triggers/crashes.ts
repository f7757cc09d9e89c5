import { setTimeout as sleep } from 'node:timers/promises';
import { committedOffsets } from '../../../shared/follow/follower-lag.ts';
import { triggerFollower } from '../../../shared/triggers/state/trigger-items.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { killNode, untilAllRun } from '../../support/nodes.ts';
import type { TriggeredAccess } from '../../support/triggers/triggered-access.ts';
import { grouped } from '../fault-run.ts';
import { deliveryFigure, isWhole } from './deliveries.ts';
import { deliveryCheck, LEAST_CELLS, twoWays, type Part } from './part.ts';
import { QUICK_LEASES, Scene } from './scene.ts';

const KILLS = 200;
/** Tailers are side by side: a process takes a second to start, and its shards wait until it is known to be dead. */
const REAL_KILLS = { tailers: 10, kills: KILLS, cells: 1000 };
const CONTROL_KILLS = { tailers: 2, kills: 12, cells: LEAST_CELLS };

/** A crash between the two sends again, never skips. The control commits first, and is killed there all the same. */
export const killedTailers = twoWays({
  name: 'killed',
  fault: `tailers killed between send and commit, ${KILLS} times`,
  async act(setting, name, isReal) {
    const { tailers, kills, cells } = isReal ? REAL_KILLS : CONTROL_KILLS;
    let [doomed, killed] = [0, 0];
    const isDoomed = Array.from({ length: tailers }, () => false);
    await using scene = await Scene.start(setting, {
      name,
      pauseMs: 120,
      tailers: isDoomed.map((_, position) => (life: number) => {
        // Each life is to die, until there are enough of them.
        isDoomed[position] = doomed < kills;
        if (isDoomed[position]) doomed += 1;
        const dies = isReal ? 'after_send' : 'before_send';
        return {
          heartbeat: QUICK_LEASES,
          // One that held none would send nothing, and never die.
          partitions: setting.stage.shards,
          variation: { waitsForQueue: isReal, ...(isDoomed[position] ? { dies, atSend: 1 + (life % 3) } : {}) },
        };
      }),
    });
    const revive = async (tailer: (typeof scene.tailers)[number], position: number): Promise<void> => {
      while (isDoomed[position]) {
        await tailer.untilDead();
        killed += 1;
        if (killed % 50 === 0) setting.world.say(`${killed} tailers killed, ${grouped(scene.stored)} cells`);
        await tailer.start();
      }
    };
    await Promise.all(scene.tailers.map(revive));
    await scene.load(0, cells);
    const verdict = await scene.conclude({ isReal });
    await scene.end();
    return { verdict, kills: killed, ...scene.sends() };
  },
  judge(real, control) {
    const what = `tailers killed between send and commit, ${real.kills} times; control: commit before send`;
    return {
      checks: [deliveryCheck(what, real.verdict, control.verdict, REAL_KILLS.cells)],
      cells: real.verdict.due,
      notes: [
        `sent again after kills: ${grouped(real.again)} of ${grouped(real.sent)} messages; the queue let ${real.verdict.repeats} of them pass; control: ${control.kills} kills`,
      ],
    };
  },
});

/** A node that cannot be asked is asked later, or the other one is. */
export const killedServers: Part = {
  fault: "a group's reader killed, another group's writer killed",

  async carryOut(setting) {
    const { servers } = setting.stage;
    await using real = await Scene.start(setting, { name: 'servers' });
    // A send that failed, or that was never made: the tailer of the control dies once, as the servers do.
    const dying = { dies: 'before_send', atSend: 5 } as const;
    const tailer = (life: number) => ({
      heartbeat: QUICK_LEASES,
      variation: { waitsForQueue: false, ...(life === 0 ? dying : {}) },
    });
    await using control = await Scene.start(setting, { name: 'servers_control', tailers: [tailer] });
    const restarted = (async () => {
      await control.tailers[0]?.untilDead();
      await control.tailers[0]?.start();
    })();
    const kill = async (group: number, role: 'reader' | 'writer'): Promise<void> => {
      const node = await killNode(servers, servers.groups.at(group)?.name ?? '', role);
      setting.world.say(`kill -9 of ${node}, a ${role}`);
      await untilAllRun(servers, setting.world.signal);
    };
    await real.wait(3);
    await kill(0, 'reader');
    await real.wait(2);
    await kill(-1, 'writer');
    await real.wait(2);
    await restarted;
    const [verdict, controlVerdict] = await Promise.all([real.conclude(), control.conclude({ isReal: false })]);
    await Promise.all([real.end(), control.end()]);
    const what = 'a reader killed, a writer killed; control: a tailer that commits before it sends too';
    return { checks: [deliveryCheck(what, verdict, controlVerdict)], cells: verdict.due, notes: [] };
  },
};

const LEASE_TIMES = 3;
const PAUSES = 3;
const BETWEEN_PAUSES_SECONDS = 3;
/** Few, so that the offsets of all of them can be polled often. */
const PARTITIONS = 6;
const CLOCKS_MS = 10 * 60_000;
/** So often that a successor has written its own offsets before the one that was paused goes on. */
const COMMIT_EVERY_MS = 500;

/** A holder that was paused cannot set back what its successor has done; and no clock is compared with another. */
export const pausedHolders = twoWays({
  name: 'paused',
  fault: `a lease holder paused for ${LEASE_TIMES} lease times, ${PAUSES} times; clocks ${CLOCKS_MS / 60_000} minutes apart`,
  async act(setting, name, isReal) {
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
      await scene.wait(BETWEEN_PAUSES_SECONDS);
      const tailer = scene.tailers[number % scene.tailers.length];
      tailer?.pause();
      await scene.wait((LEASE_TIMES * QUICK_LEASES.silenceMs) / 1000);
      tailer?.resume();
    }
    await scene.wait(BETWEEN_PAUSES_SECONDS);
    const verdict = await scene.conclude({ isReal });
    const history = await watch.stop();
    await scene.end();
    return { verdict, history };
  },
  judge(real, control) {
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
});

/** Far more often than a worker commits: what goes back is seen before the next commit covers it. */
const EVERY_MS = 40;

/** Polls the committed offsets until it is stopped. Counts how often a shard's was lower than before. */
function watchOffsets({ dynamo, stateTable, trigger, datastore }: TriggeredAccess, shards: number) {
  const client = dynamoClient(dynamo);
  const end = new AbortController();
  const highest = Array.from({ length: shards }, () => 0);
  const seen = { looks: 0, back: 0 };
  const table = { client, table: stateTable };
  const watching = (async () => {
    while (!end.signal.aborted) {
      // On a machine that has too much to do an answer may not come in time.
      const follower = { name: triggerFollower(trigger), datastore };
      const offsets = await committedOffsets(table, follower, shards).catch(() => []);
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
