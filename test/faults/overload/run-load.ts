import { setTimeout as sleep } from 'node:timers/promises';
import type { RunWorld } from '../../support/run-world.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import type { LoadPlan, LoadProgress, LoadResult } from './load-plan.ts';

const POLL_MS = 100;

/** Loads a stack from a process of its own, and returns what that saw. */
export async function runLoad(
  { folder, signal, say }: Pick<RunWorld, 'folder' | 'signal' | 'say'>,
  plan: LoadPlan,
): Promise<LoadResult> {
  using load = startProcess<LoadPlan, LoadProgress>(new URL('load-process.ts', import.meta.url), folder, plan);
  await load.ready;
  let isGone = false;
  void load.gone.then(() => {
    isGone = true;
  });
  let said: string | undefined;
  for (;;) {
    const { line, result } = load.progress ?? {};
    if (result !== undefined) return result;
    if (line !== undefined && line !== said) say(line);
    said = line;
    if (isGone) throw new Error('the load ended without a result');
    await sleep(POLL_MS, undefined, { signal });
  }
}
