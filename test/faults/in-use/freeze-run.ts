import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import { check, type FaultRun, type RunWorld } from '../fault-run.ts';
import { variedFunctions } from '../stack-program.ts';
import { arePerfect, firstLine, startInUse, type StackInUse } from './stack-in-use.ts';

const FROZEN_SECONDS = 180;
const KEEPING = {
  'write-cells': new URL('keeping-write-cells.ts', import.meta.url),
  'read-cells': new URL('keeping-read-cells.ts', import.meta.url),
};

export const freezeRun: FaultRun = {
  name: 'freeze',
  promise: 'The first requests after a freeze are answered as if there had been none',
  fault: `SIGSTOP of all processes of functions for ${FROZEN_SECONDS / 60} minutes, in which their connections to MySQL are dropped; then requests as soon as they continue`,
  control: 'connections that are kept, and trusted, for ever, and whose loss is blamed on the node',
  alone: true,

  async run(world) {
    await using product = await startInUse(world, 'real', { functions: 'process' });
    await using keeping = await startInUse(world, 'control', {
      functions: 'process',
      functionsFolder: variedFunctions(join(world.folder, 'functions'), KEEPING),
    });
    const before = [product, keeping].map(({ requests }) => requests.circuitsOpened());
    await freeze(world, [product, keeping]);
    // One after the other: each has the machine to itself.
    const [real, control] = [await product.ask('', before[0]), await keeping.ask('', before[1])];
    return {
      checks: [
        check(
          {
            what: 'of the first writes stored, of the first reads fresh; circuits opened; control: connections kept',
            bar: 'all, all; 0',
            result: ({ stored, writes, fresh, reads, circuits }) =>
              `${stored} of ${writes}, ${fresh} of ${reads}; ${circuits}`,
            holds: (answers) => arePerfect(answers) && answers.circuits === 0,
            fails: (answers) => !arePerfect(answers),
          },
          real,
          control,
        ),
      ],
      cells: real.writes,
      notes: [firstLine(real), `connections kept: ${firstLine(control)}`],
    };
  },
};

async function freeze({ signal, say }: RunWorld, stacks: readonly StackInUse[]): Promise<void> {
  const pids = stacks.flatMap(({ stack }) => pidsOf(stack));
  signalAll(pids, 'SIGSTOP');
  try {
    say(`SIGSTOP of ${pids.length} processes`);
    for (const { writerEndpoint, readerEndpoint } of stacks.flatMap(({ stack }) => stack.groups.groups))
      for (const endpoint of [writerEndpoint, readerEndpoint]) endpoint.forgetConnections();
    await sleep(FROZEN_SECONDS * 1000, undefined, { signal });
  } finally {
    signalAll(pids, 'SIGCONT');
  }
}

function pidsOf({ functions }: LocalStack): readonly number[] {
  return functions
    .status()
    .flatMap(({ instances }) => instances.map(({ pid }) => pid))
    .filter((pid) => pid > 0 && pid !== process.pid);
}

function signalAll(pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}
