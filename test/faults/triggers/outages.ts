import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../../infra/local/emulators/emulator.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { CONTROL_PATIENCE_MS, deliveryCheck, type Part } from './part.ts';
import { isWhole } from './judge-deliveries.ts';
import { Scene } from './scene.ts';

const AWAY_SECONDS = 20;
/** Into an outage: what had been sent before is delivered by then. */
const DRAINED_SECONDS = 8;
const BETWEEN_SECONDS = 5;

/** While the state is away the shards that are held go on; while the queue is away everything waits. */
export const outages: Part = {
  fault: `DynamoDB gone for ${AWAY_SECONDS} s; SQS gone for ${AWAY_SECONDS} s`,

  async carryOut(world, stage) {
    await using real = await Scene.start(world, stage, { name: 'outages' });
    await using control = await Scene.start(world, stage, {
      name: 'outages_control',
      tailers: [{ variation: { goesOnWithoutState: false, waitsForQueue: false } }],
    });
    await real.wait(BETWEEN_SECONDS);

    const { began, ended } = await away(world, stage.dynamo, 'DynamoDB');
    const goingOn = (scene: Scene): number =>
      new Set(
        scene
          .deliveries()
          .filter(({ at }) => at > began + DRAINED_SECONDS * 1000 && at < ended)
          .map(({ shard }) => shard),
      ).size;
    const [shards, controlShards] = [goingOn(real), goingOn(control)];
    await real.wait(BETWEEN_SECONDS);
    await away(world, stage.sqs, 'SQS');
    await real.wait(BETWEEN_SECONDS);

    await Promise.all([real, control].map((scene) => scene.stopWriters()));
    const [verdict, controlVerdict] = await Promise.all([
      real.settle(),
      control.settle({ patienceMs: CONTROL_PATIENCE_MS }),
    ]);
    await Promise.all([real.end(), control.end()]);
    return {
      checks: [
        deliveryCheck(
          `DynamoDB, then SQS gone for ${AWAY_SECONDS} s; control: commit before send`,
          verdict,
          controlVerdict,
        ),
        {
          what: 'shards that went on without DynamoDB; control: tailers that end without it',
          figure: `${shards} of ${stage.shards}`,
          bar: `${stage.shards}`,
          passed: shards === stage.shards && isWhole(verdict),
          control: { figure: `${controlShards} of ${stage.shards}`, failed: controlShards < stage.shards },
        },
      ],
      cells: verdict.due,
      notes: [`repeats after the outages: ${verdict.repeats}`],
    };
  },
};

/** Returns when it began and ended, by `Date.now()`. */
async function away(
  { signal, say }: RunWorld,
  service: Service,
  name: string,
): Promise<{ readonly began: number; readonly ended: number }> {
  say(`${name} is gone`);
  await service.kill();
  const began = Date.now();
  await sleep(AWAY_SECONDS * 1000, undefined, { signal });
  const ended = Date.now();
  await service.resume();
  say(`${name} is back`);
  return { began, ended };
}
