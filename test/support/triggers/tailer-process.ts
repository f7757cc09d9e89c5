/** A process that tails shards for triggers, as the scheduled function does, until it is ended. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkersOptions } from '../../../shared/follow/workers.ts';
import { runTailers } from '../../../shared/triggers/send/run-tailers.ts';
import type { TailSettings, TailEvent } from '../../../shared/triggers/send/tail-work.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { runAsProcess } from '../processes/process-side.ts';
import { GOOD_TAILER, varyClient, varyQueues, type TailerVariation } from './tailer-variation.ts';
import { openTriggered, type TriggeredAccess } from './triggered-access.ts';

/** The options of a tailer, except where it works. */
export interface TailerOptions {
  readonly variation?: Partial<TailerVariation>;
  readonly heartbeat?: Pick<WorkersOptions, 'heartbeatMs' | 'silenceMs'>;
  readonly partitions?: number;
  readonly settings?: Partial<TailSettings>;
  /**
   * It ends with its first run, when a successor has taken over. @default false: it begins the next run, as the
   * schedule does
   */
  readonly once?: boolean;
}

export interface TailerInput extends TailerOptions {
  readonly access: TriggeredAccess;
  /** One worker each. */
  readonly slots: readonly number[];
  /** Every message that the queue took is written there. */
  readonly sends: string;
}

export interface TailerProgress {
  sent: number;
  /** Logs found cut, and those of them that went back to a checkpoint and not to the start. */
  cuts: number;
  toCheckpoints: number;
}

/** How long a run of the function lasts: longer than anything here does. */
const RUN_MS = 600_000;
const RETRY_MS = 300;
const SAY_MS = 100;

await runAsProcess<TailerInput, TailerProgress>(async (input, control) => {
  const { access, slots, sends } = input;
  const variation = { ...GOOD_TAILER, ...input.variation };
  await using store = await openTriggered(access, { wrap: (client) => varyClient(client, variation) });
  const progress: TailerProgress = { sent: 0, cuts: 0, toCheckpoints: 0 };
  using queues = varyQueues(sqsQueues(store.sqs), variation, progress, sends);

  async function run(slot: number): Promise<void> {
    const giveUp = new AbortController();
    const report = ({ ...event }: TailEvent): void => {
      if (event.kind !== 'followed') return;
      if (event.event.kind === 'state_failed' && !variation.goesOnWithoutState) giveUp.abort();
      if (event.event.kind !== 'cut') return;
      progress.cuts += 1;
      if (event.event.back_to > 0) progress.toCheckpoints += 1;
    };
    const { heartbeat, partitions, settings = {} } = input;
    await runTailers({
      context: store.context,
      topologyTable: store.topologyTable,
      stateTable: store.stateTable,
      queues,
      owner: randomUUID(),
      slot,
      // Clock: longer than any run lasts.
      deadline: Date.now() + RUN_MS,
      signal: AbortSignal.any([control.signal, giveUp.signal]),
      report,
      settings,
      ...(heartbeat && { heartbeat }),
      ...(partitions !== undefined && { partitions }),
    });
  }

  await control.ready();
  const say = (): Promise<void> => control.say({ ...progress });
  // Clock: how often it tells how far it is.
  const saying = setInterval(() => void say(), SAY_MS);
  await Promise.all(
    slots.map(async (slot) => {
      do {
        // A run that cannot begin, since DynamoDB is unavailable, is followed by the next one.
        // Clock: between two tries.
        await run(slot).catch(() => sleep(RETRY_MS));
      } while (!input.once && !control.signal.aborted);
    }),
  );
  clearInterval(saying);
  await say();
});
