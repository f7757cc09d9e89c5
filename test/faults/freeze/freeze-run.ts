import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../../infra/local/stack/running-stack.ts';
import { engineName } from '../../support/cluster.ts';
import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { arePerfect, firstLine, FirstRequests, type FirstAnswers } from '../first-requests.ts';
import { variedFunctions } from '../varied-functions.ts';

const FROZEN_SECONDS = 180;
const SHARDS = 24;
const KEEPING = { 'write-cells': new URL('keeping-write-cells.ts', import.meta.url), 'read-cells': new URL('keeping-read-cells.ts', import.meta.url) };

export const freezeRun: FaultRun = {
  name: 'freeze',
  promise: 'The first requests after a freeze are answered as if there had been none',
  fault: `SIGSTOP of all processes of functions for ${FROZEN_SECONDS / 60} minutes, their connections to MySQL forgotten meanwhile; then requests as soon as they go on`,
  control: 'connections that are kept, and trusted, for ever',
  alone: true,

  async run(world: RunWorld): Promise<RunOutcome> {
    await using parts = new AsyncDisposableStack();
    const started = async (name: string, functionsFolder: string | undefined): Promise<StackInUse> => {
      const inUse = await start(world, name, functionsFolder);
      parts.defer(() => inUse.stack.stop());
      return inUse;
    };
    const product = await started('real', undefined);
    const control = await started('control', variedFunctions(join(world.folder, 'functions'), KEEPING));
    const stacks = [product, control] as const;
    const before = stacks.map(({ requests }) => requests.circuitsOpened());
    await freeze(world, stacks);
    // One after the other: each has the machine for itself.
    const real = await answersOf(world, product, before[0]);
    const keeping = await answersOf(world, control, before[1]);
    return {
      checks: [
        {
          what: 'of the first writes stored, of the first reads fresh; circuits opened; control: connections kept',
          figure: `${real.stored} of ${real.writes}, ${real.fresh} of ${real.reads}; ${real.circuits}`,
          bar: 'all, all; 0',
          passed: arePerfect(real) && real.circuits === 0,
          control: { figure: `${keeping.stored}, ${keeping.fresh}; ${keeping.circuits}`, failed: !arePerfect(keeping) && keeping.circuits > 0 },
        },
      ],
      cells: real.writes,
      engine: engineName(product.stack.groups.engine),
      notes: [firstLine(real), `connections kept: ${firstLine(keeping)}`],
    };
  },
};

interface StackInUse {
  readonly name: string;
  readonly stack: LocalStack;
  readonly requests: FirstRequests;
}

async function start({ folder, engine }: RunWorld, name: string, functionsFolder: string | undefined): Promise<StackInUse> {
  const stack = await startLocalStack({ data: join(folder, name), port: 0, shards: SHARDS, engine, functions: 'process', functionsFolder });
  const requests = new FirstRequests(stack.url, stack.functionLog);
  try {
    await requests.warmUp();
  } catch (error) {
    await stack.stop();
    throw error;
  }
  return { name, stack, requests };
}

async function freeze({ signal, say }: RunWorld, stacks: readonly StackInUse[]): Promise<void> {
  const pids = stacks.flatMap(({ stack }) => pidsOf(stack));
  signalAll(pids, 'SIGSTOP');
  try {
    say(`SIGSTOP of ${pids.length} processes`);
    for (const { writerEndpoint, readerEndpoint } of stacks.flatMap(({ stack }) => stack.groups.groups)) for (const endpoint of [writerEndpoint, readerEndpoint]) endpoint.forgetConnections();
    await sleep(FROZEN_SECONDS * 1000, undefined, { signal });
  } finally {
    signalAll(pids, 'SIGCONT');
  }
}

async function answersOf({ say }: RunWorld, { name, requests }: StackInUse, circuitsBefore: number | undefined): Promise<FirstAnswers> {
  const answers = await requests.send(circuitsBefore);
  say(`${name}: ${firstLine(answers)}`);
  return answers;
}

function pidsOf({ functions }: LocalStack): readonly number[] {
  return functions.status().flatMap(({ instances }) => instances.map(({ pid }) => pid)).filter((pid) => pid > 0 && pid !== process.pid);
}

function signalAll(pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended meanwhile.
    }
  }
}
