import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, type Aftermath } from '../aftermath.ts';
import { grouped, type RunWorld, type Share } from '../fault-run.ts';
import type { Written } from '../load/ledger.ts';
import { settle, type Rest } from '../soak/settle.ts';
import type { RestoredStack } from './restored-stack.ts';

const GROUP = 'group-1';
export const FIRST_SNAPSHOT = 'first';
const BEFORE_MS = 12_000;
/** Most of what is written meanwhile is drained by the end of it. */
const SINCE_MS = 15_000;
const AFTER_MS = 15_000;
const SETTLE_MS = 120_000;

/** What is there once one group was set back under load. */
export interface SetBackOne {
  readonly written: Written;
  readonly aftermath: Aftermath;
  readonly rest: Rest;
  readonly unbilled: number;
  readonly index: Share;
  /** Until the group was told to take writes. */
  readonly seconds: number;
}

/**
 * Writes, remembers a moment, and sets a group back to it while the writers go on.
 *
 * @param patienceMs for trips to be billed @default two minutes
 */
export async function setBackOne(world: RunWorld, stack: RestoredStack, patienceMs?: number): Promise<SetBackOne> {
  const { signal, say } = world;
  let seconds = 0;
  const written = await stack.written('one', async () => {
    await sleep(BEFORE_MS, undefined, { signal });
    await stack.control('snapshot', FIRST_SNAPSHOT);
    await sleep(SINCE_MS, undefined, { signal });
    say(`setting ${GROUP} back by ${SINCE_MS / 1000} s`);
    const begun = performance.now();
    await stack.control('set-back', GROUP, FIRST_SNAPSHOT, '--yes', ...(stack.keepsCopies ? [] : ['--force']));
    seconds = (performance.now() - begun) / 1000;
    await sleep(AFTER_MS, undefined, { signal });
  });
  const datastore = stack.client();
  const rest = await settle(stack.data, datastore, SETTLE_MS, signal);
  const aftermath = await inspect({ datastore, groups: stack.stack.groups, written, signal });
  const unbilled = await stack.unbilled(written, patienceMs);
  const index = await stack.verifiedIndex();
  say(`${aftermath.lost} of ${grouped(aftermath.acked)} lost, ${unbilled.wrong} of ${unbilled.of} trips not billed`);
  return { written, aftermath, rest, unbilled: unbilled.wrong, index, seconds };
}
