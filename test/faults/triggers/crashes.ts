import { killNode, untilAllRun } from '../../support/nodes.ts';
import { grouped } from '../fault-run.ts';
import { deliveryCheck, LEAST_CELLS, twoWays, type Part } from './part.ts';
import { QUICK_LEASES, Scene } from './scene.ts';

const KILLS = 200;
/** Tailers run in parallel: a process takes a second to start, and its shards wait until it is known to be dead. */
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
        // Each life must end by a crash, until there are enough of them.
        isDoomed[position] = doomed < kills;
        if (isDoomed[position]) doomed += 1;
        const dies = isReal ? 'after_send' : 'before_send';
        return {
          heartbeat: QUICK_LEASES,
          // A tailer that holds none would send nothing, and never die.
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
    // A failed send, or none at all: the control's tailer dies once, as the servers do.
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
