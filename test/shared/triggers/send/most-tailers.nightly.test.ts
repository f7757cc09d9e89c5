import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Service } from '../../../../infra/local/emulators/emulator.ts';
import { startService } from '../../../../infra/local/emulators/start-service.ts';
import { MAX_TAILERS } from '../../../../shared/triggers/send/tailer-count.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { startSqs, type LocalSqs } from '../../../support/sqs.ts';
import { temporaryFolder } from '../../../infra/support/temporary-folder.ts';
import { until as untilWithin } from '../../../support/until.ts';
import {
  followEvents,
  heldBy,
  openTailedStore,
  orderBreaks,
  startTailer,
  stopTailers,
  type TailedStore,
  type Tailer,
} from './support/tailed-store.ts';

let sqs: LocalSqs;
let tailed: TailedStore;

let dynamo: Service;
const folder = temporaryFolder();

beforeAll(async () => {
  sqs = await startSqs();
  // Of its own: so many ask it so often that other tests would have to wait.
  dynamo = await startService('dynamodb', folder.path);
  const opened = await openTailedStore(sqs, MAX_TAILERS, [{ name: 'crowded' }]);
  tailed = { ...opened, stateTable: await newTable(dynamoClient(dynamo.url)) };
});
afterEach(stopTailers);
afterAll(async () => {
  tailed.stateTable.client.destroy();
  await tailed.close();
  await Promise.all([sqs.stop(), dynamo.close()]);
  folder[Symbol.dispose]();
});

/** As many as there may be, as slow as the product's: a busy machine runs them all. */
function startAll(): Tailer[] {
  const settings = {
    lookMs: 2000,
    listMs: 10_000,
    depthEveryMs: 10_000,
    commitEveryMs: 1000,
    pauses: { leastMs: 640, mostMs: 640, aligned: true },
  };
  const options = {
    tailers: MAX_TAILERS,
    heartbeat: { heartbeatMs: 2000, silenceMs: 60_000 },
    // Clock: later than any test lasts.
    deadline: Date.now() + 3_600_000,
    settings,
  };
  return Array.from({ length: MAX_TAILERS }, (_, slot) => startTailer(sqs, tailed, { ...options, slot }));
}

const until = (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> =>
  untilWithin(what, isTrue, { patienceMs: 120_000 });

/**
 * Writes to each shard, and returns how many cells there are then: on a busy machine a write may have to be repeated.
 */
async function writeToAll(): Promise<number> {
  for (let shard = 0; shard < MAX_TAILERS; shard += 1) {
    while (
      !(await tailed.write(shard, 1).then(
        () => true,
        () => false,
      ))
    )
      // Clock: between two tries of a write.
      await sleep(200);
  }
  return (await tailed.stored()).length;
}

describe('as many tailers as there may be', { timeout: 500_000 }, () => {
  it('have a partition each, and hand them over to as many successors, who all send', async () => {
    const crowded = tailed.trigger('crowded');
    const first = startAll();
    await until('each has a partition', () => first.every((tailer) => heldBy(tailer) === 1));
    const some = await writeToAll();
    await until('the first cells are received', async () => (await crowded.receive()).length === some);
    const next = startAll();
    await until('the successors have them', () => next.every((tailer) => heldBy(tailer) === 1));
    await Promise.all(first.map((tailer) => tailer.stop()));
    const all = await writeToAll();
    await until('the next cells are received', async () => (await crowded.receive()).length === all);
    await Promise.all(next.map((tailer) => tailer.stop()));
    expect(orderBreaks(crowded.received)).toBe(0);
    // On a busy machine DynamoDB may be late; that it refuses something is another matter.
    const errors = [...first, ...next].flatMap((tailer) => [
      ...tailer.events.flatMap((event) => (event.kind === 'failed' ? [event.error] : [])),
      ...followEvents(tailer, 'state_failed').map(({ error }) => error),
    ]);
    expect(errors.filter((error) => error instanceof Error && error.name === 'ValidationException')).toEqual([]);
  });
});
