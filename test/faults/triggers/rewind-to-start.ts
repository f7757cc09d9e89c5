import { isWhole, judgeDeliveries, type DeliveryVerdict } from './judge-deliveries.ts';
import type { Scene } from './scene.ts';

/** As long as something comes, it is waited for; then for so long. */
const PATIENCE_MS = 12_000;

/**
 * Rewinds a trigger to the start of its logs, and judges whether every cell that was there is delivered again, as a
 * replay.
 */
export async function rewindToStart(scene: Scene): Promise<DeliveryVerdict> {
  const due = await scene.logged();
  const before = scene.deliveries().length;
  await scene.operate((operations, trigger) => operations.rewindTrigger(trigger, 'start'));
  const replays = () =>
    scene
      .deliveries()
      .slice(before)
      .filter(({ replay }) => replay);
  await scene.untilQuiet(
    () => isWhole(judgeDeliveries(due, replays())),
    () => replays().length,
    PATIENCE_MS,
  );
  return judgeDeliveries(due, replays());
}
