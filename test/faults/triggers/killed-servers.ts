import type { RunWorld } from '../../support/run-world.ts';
import { untilAllRun } from '../../support/nodes.ts';
import { CONTROL_PATIENCE_MS, deliveryCheck, type Part } from './part.ts';
import { QUICK_LEASES, Scene } from './scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';

const BEFORE_SECONDS = 3;
const AFTER_SECONDS = 2;

/** A node that cannot be asked is asked later, or the other one is. */
export const killedServers: Part = {
  fault: "a group's reader killed, another group's writer killed",

  async carryOut(world, stage) {
    await using real = await Scene.start(world, stage, { name: 'servers' });
    // A send that failed, or that nobody made: the tailer of the control dies once, as the servers do.
    await using control = await Scene.start(world, stage, {
      name: 'servers_control',
      tailers: [
        (life) => ({
          heartbeat: QUICK_LEASES,
          variation: { waitsForQueue: false, ...(life === 0 ? { dies: 'before_send', atSend: 5 } : {}) },
        }),
      ],
    });
    const restarted = restart(control);
    await real.wait(BEFORE_SECONDS);
    await kill(world, stage, 0, 'reader');
    await real.wait(AFTER_SECONDS);
    await kill(world, stage, stage.servers.groups.length - 1, 'writer');
    await real.wait(AFTER_SECONDS);
    await restarted;
    await Promise.all([real, control].map((scene) => scene.stopWriters()));
    const [verdict, controlVerdict] = await Promise.all([
      real.settle(),
      control.settle({ patienceMs: CONTROL_PATIENCE_MS }),
    ]);
    await Promise.all([real.end(), control.end()]);
    return {
      checks: [
        deliveryCheck(
          'a reader killed, a writer killed; control: a tailer that commits before it sends too',
          verdict,
          controlVerdict,
        ),
      ],
      cells: verdict.due,
      notes: [],
    };
  },
};

async function restart({ tailers: [tailer] }: Scene): Promise<void> {
  await tailer?.untilDead();
  await tailer?.start();
}

async function kill(
  { signal, say }: RunWorld,
  { servers }: TriggerStage,
  group: number,
  role: 'reader' | 'writer',
): Promise<void> {
  const node = servers.groups[group]?.nodes.find((one) => one.role === role);
  if (!node) throw new Error(`a group without a ${role}`);
  await servers.kill(node.node);
  say(`kill -9 of ${node.node}, a ${role}`);
  await untilAllRun(servers, signal);
}
