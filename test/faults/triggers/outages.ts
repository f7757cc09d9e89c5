import type { Service } from '../../../infra/local/emulators/emulator.ts';
import type { Phase } from '../load/latency.ts';
import { deliveryCheck, isWhole, type Part } from './part.ts';
import { Scene } from './scene.ts';

const AWAY_SECONDS = 20;
/** Into an outage: what had been sent before is delivered by then. */
const DRAINED_SECONDS = 8;
const BETWEEN_SECONDS = 5;

/** While the state is away the shards that are held go on; while the queue is away everything waits. */
export const outages: Part = {
  fault: `DynamoDB gone for ${AWAY_SECONDS} s; SQS gone for ${AWAY_SECONDS} s`,

  async carryOut(setting) {
    const { say } = setting.world;
    const { shards: all, dynamo, sqs } = setting.stage;
    await using real = await Scene.start(setting, { name: 'outages' });
    await using control = await Scene.start(setting, {
      name: 'outages_control',
      tailers: [{ variation: { goesOnWithoutState: false, waitsForQueue: false } }],
    });
    const away = async (service: Service, name: string): Promise<Phase> => {
      say(`${name} is gone`);
      await service.kill();
      const from = Date.now();
      await real.wait(AWAY_SECONDS);
      const to = Date.now();
      await service.resume();
      say(`${name} is back`);
      return { from, to };
    };
    await real.wait(BETWEEN_SECONDS);
    const { from, to } = await away(dynamo, 'DynamoDB');
    const goingOn = (scene: Scene): number => {
      const meanwhile = scene.deliveries().filter(({ at }) => at > from + DRAINED_SECONDS * 1000 && at < to);
      return new Set(meanwhile.map(({ shard }) => shard)).size;
    };
    const [shards, controlShards] = [goingOn(real), goingOn(control)];
    await real.wait(BETWEEN_SECONDS);
    await away(sqs, 'SQS');
    await real.wait(BETWEEN_SECONDS);

    const [verdict, controlVerdict] = await Promise.all([real.conclude(), control.conclude({ isReal: false })]);
    await Promise.all([real.end(), control.end()]);
    const what = `DynamoDB, then SQS gone for ${AWAY_SECONDS} s; control: commit before send`;
    return {
      checks: [
        deliveryCheck(what, verdict, controlVerdict),
        {
          what: 'shards that went on without DynamoDB; control: tailers that end without it',
          figure: `${shards} of ${all}`,
          bar: `${all}`,
          passed: shards === all && isWhole(verdict),
          control: { figure: `${controlShards} of ${all}`, failed: controlShards < all },
        },
      ],
      cells: verdict.due,
      notes: [`repeats after the outages: ${verdict.repeats}`],
    };
  },
};
