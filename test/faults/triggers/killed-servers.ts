import { killNode, untilAllRun } from '../../support/nodes.ts';
import { deliveryCheck, type Part, type Setting } from './part.ts';
import { QUICK_LEASES, Scene } from './scene.ts';

const BEFORE_SECONDS = 3;
const AFTER_SECONDS = 2;

/** A node that cannot be asked is asked later, or the other one is. */
export const killedServers: Part = {
  fault: "a group's reader killed, another group's writer killed",

  async carryOut(setting) {
    await using real = await Scene.start(setting, { name: 'servers' });
    // A send that failed, or that nobody made: the tailer of the control dies once, as the servers do.
    const dying = { dies: 'before_send', atSend: 5 } as const;
    await using control = await Scene.start(setting, {
      name: 'servers_control',
      tailers: [
        (life) => ({ heartbeat: QUICK_LEASES, variation: { waitsForQueue: false, ...(life === 0 ? dying : {}) } }),
      ],
    });
    const restarted = restart(control);
    await real.wait(BEFORE_SECONDS);
    await kill(setting, 0, 'reader');
    await real.wait(AFTER_SECONDS);
    await kill(setting, -1, 'writer');
    await real.wait(AFTER_SECONDS);
    await restarted;
    const [verdict, controlVerdict] = await Promise.all([real.conclude(), control.conclude({ isReal: false })]);
    await Promise.all([real.end(), control.end()]);
    const what = 'a reader killed, a writer killed; control: a tailer that commits before it sends too';
    return { checks: [deliveryCheck(what, verdict, controlVerdict)], cells: verdict.due, notes: [] };
  },
};

async function restart({ tailers: [tailer] }: Scene): Promise<void> {
  await tailer?.untilDead();
  await tailer?.start();
}

async function kill({ world, stage: { servers } }: Setting, group: number, role: 'reader' | 'writer'): Promise<void> {
  world.say(`kill -9 of ${await killNode(servers, servers.groups.at(group)?.name ?? '', role)}, a ${role}`);
  await untilAllRun(servers, world.signal);
}
