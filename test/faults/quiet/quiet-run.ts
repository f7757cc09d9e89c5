import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../../infra/local/stack/running-stack.ts';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';
import { engineName } from '../../support/cluster.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { arePerfect, firstLine, FirstRequests, type FirstAnswers } from '../first-requests.ts';
import { variedFunctions } from '../varied-functions.ts';

const QUIET_SECONDS = 100;
const SHARDS = 24;
const GROUPS = 3;
const UP_MS = 30_000;
const POLL_MS = 100;
const BELIEVING = { 'write-cells': new URL('believing-write-cells.ts', import.meta.url) };

interface StackInUse {
  readonly name: string;
  readonly stack: LocalStack;
  readonly requests: FirstRequests;
  /** After one writer was killed, after two, and after all. */
  readonly answers: FirstAnswers[];
}

export const quietRun: FaultRun = {
  name: 'quiet',
  promise: 'An outage that is over is no news to anybody',
  fault: `kill -9 of one writer, of two, and of all, each time ${QUIET_SECONDS} s of quiet, then writes and reads; functions as threads and as processes`,
  control: 'writes that believe whatever is told, however old it is',
  alone: true,

  async run(world: RunWorld): Promise<RunOutcome> {
    const functionsFolder = variedFunctions(join(world.folder, 'functions'), BELIEVING);
    await using parts = new AsyncDisposableStack();
    const started = async (name: string, options: Partial<LocalStackOptions>): Promise<StackInUse> => {
      const stack = await startLocalStack({ data: join(world.folder, name), port: 0, groups: GROUPS, shards: SHARDS, engine: world.engine, ...options });
      parts.defer(() => stack.stop());
      const requests = new FirstRequests(stack.url, stack.functionLog);
      await requests.warmUp();
      return { name, stack, requests, answers: [] };
    };
    const threads = await started('threads', { functions: 'threads' });
    const processes = await started('processes', { functions: 'process' });
    const believing = await started('control', { functions: 'process', functionsFolder });
    for (let count = 1; count <= GROUPS; count += 1) await killAndWait(world, [threads, processes, believing], count);
    const check = (what: string, { answers }: StackInUse): Check => ({
      what: `first writes stored, reads fresh, after one, two and ${GROUPS} writers were killed: functions as ${what}`,
      figure: answers.map(({ stored, fresh }) => `${stored}, ${fresh}`).join('; '),
      bar: `${threads.answers[0]?.writes} each`,
      passed: answers.every(arePerfect),
      control: { figure: believing.answers.map(({ stored, fresh }) => `${stored}, ${fresh}`).join('; '), failed: !believing.answers.every(arePerfect) },
    });
    return {
      checks: [check('threads', threads), check('processes', processes)],
      cells: [threads, processes].flatMap(({ answers }) => answers).reduce((sum, { writes }) => sum + writes, 0),
      engine: engineName(threads.stack.groups.engine),
      notes: Object.entries({ threads, processes, believing }).flatMap(([name, { answers }]) => answers.map((answer, place) => `${name}, ${place + 1} killed: ${firstLine(answer)}`)),
    };
  },
};

/** Kills so many writers of each stack at once, and asks each after the quiet, one after the other. */
async function killAndWait({ signal, say }: RunWorld, stacks: readonly StackInUse[], count: number): Promise<void> {
  for (const { stack } of stacks) for (const { node } of writersOf(stack).slice(0, count)) stack.groups.kill(node);
  await sleep(QUIET_SECONDS * 1000, undefined, { signal });
  for (const { name, stack, requests, answers } of stacks) {
    await allUp(stack);
    const answer = await requests.send();
    say(`${name}, ${count} killed: ${firstLine(answer)}`);
    answers.push(answer);
  }
}

function writersOf({ groups }: LocalStack) {
  return groups.status().filter(({ role }) => role === 'writer');
}

/** Throws where a server that was killed has not come back: its writes could not be stored. */
async function allUp({ groups }: LocalStack): Promise<void> {
  const deadline = performance.now() + UP_MS;
  while (groups.status().some(({ state }) => state !== 'running')) {
    if (performance.now() > deadline) throw new Error('a server that was killed did not come back');
    await sleep(POLL_MS);
  }
}
