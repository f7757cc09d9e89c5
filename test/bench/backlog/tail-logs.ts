import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../../support/processes/killable-process.ts';
import type { TailerInput, TailerProgress } from '../../support/triggers/tailer-process.ts';
import type { BenchWorld } from '../bench.ts';
import type { BacklogStage } from './backlog-stage.ts';
import type { Course } from './read-logs.ts';

/** How a tailer worked through a backlog. */
export interface Tailed {
  readonly course: Course;
  /** Per cent of one core, over the whole time. */
  readonly tailerCpu: number;
  readonly sqsCpu: number;
}

const POLL_MS = 100;
/** Nobody consumes what is sent here: at 100,000 messages a tailer would wait for somebody. */
const DEPTH_LIMIT = Number.MAX_SAFE_INTEGER;
const TAILER = new URL('../../support/triggers/tailer-process.ts', import.meta.url);

/** Starts one tailer and waits until the queue has taken so many cells. */
export async function tailLogs(
  { access, sqs }: Pick<BacklogStage, 'access' | 'sqs'>,
  cells: number,
  { folder, seed, signal }: Pick<BenchWorld, 'folder' | 'seed' | 'signal'>,
): Promise<Tailed> {
  const input: TailerInput = {
    access,
    slots: [0],
    sends: `${folder}/sends`,
    seed,
    settings: { depthLimit: DEPTH_LIMIT },
  };
  using tailer = startProcess<TailerInput, TailerProgress>(TAILER, folder, input);
  await tailer.ready;
  const [start, sqsBefore] = [performance.now(), sqs.progress?.cpuMs ?? 0];
  const course: [number, number][] = [[0, 0]];
  for (let sent = 0; sent < cells;) {
    await sleep(POLL_MS, undefined, { signal });
    sent = tailer.progress?.sent ?? 0;
    course.push([(performance.now() - start) / 1000, sent]);
  }
  const milliseconds = performance.now() - start;
  const tailed = {
    course,
    tailerCpu: (100 * (tailer.progress?.cpuMs ?? 0)) / milliseconds,
    sqsCpu: (100 * ((sqs.progress?.cpuMs ?? 0) - sqsBefore)) / milliseconds,
  };
  await tailer.stop();
  return tailed;
}
