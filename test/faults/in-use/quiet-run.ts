import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilAllRun } from '../../support/nodes.ts';
import { check, sumOf, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import { arePerfect, firstLine, startInUse, type FirstAnswers, type StackInUse } from './stack-in-use.ts';
import { variedFunctions } from '../stack-program.ts';

const QUIET_SECONDS = 100;
const GROUPS = 3;
const UP_MS = 30_000;
const BELIEVING = { 'write-cells': new URL('believing-write-cells.ts', import.meta.url) };

export const quietRun: FaultRun = {
  name: 'quiet',
  promise: 'An outage that is over affects no later request',
  fault: `kill -9 of one writer, of two, and of all, each time ${QUIET_SECONDS} s of quiet, then writes and reads; functions as threads and as processes`,
  control: 'writes that believe whatever is told, however old it is',
  alone: true,

  async run(world) {
    const functionsFolder = variedFunctions(join(world.folder, 'functions'), BELIEVING);
    await using threads = await startInUse(world, 'threads', { groups: GROUPS, functions: 'threads' });
    await using processes = await startInUse(world, 'processes', { groups: GROUPS, functions: 'process' });
    const varied = { groups: GROUPS, functions: 'process', functionsFolder } as const;
    await using believing = await startInUse(world, 'control', varied);
    const stacks = [threads, processes, believing];
    const rounds: FirstAnswers[][] = [];
    for (let count = 1; count <= GROUPS; count += 1) rounds.push(await killAndAsk(world, stacks, count));
    const [ofThreads, ofProcesses, control] = stacks.map((_, position) =>
      rounds.flatMap((round) => round[position] ?? []),
    ) as [FirstAnswers[], FirstAnswers[], FirstAnswers[]];
    const checkOf = (what: string, answers: readonly FirstAnswers[]): Check =>
      check(
        {
          what: `first writes stored, reads fresh, after one, two and ${GROUPS} writers were killed: functions as ${what}`,
          bar: `${answers[0]?.writes} each`,
          result: (all) => all.map(({ stored, fresh }) => `${stored}, ${fresh}`).join('; '),
          holds: (all) => all.length === GROUPS && all.every(arePerfect),
          fails: (all) => !all.every(arePerfect),
        },
        answers,
        control,
      );
    return {
      checks: [checkOf('threads', ofThreads), checkOf('processes', ofProcesses)],
      cells: sumOf([...ofThreads, ...ofProcesses].map(({ writes }) => writes)),
      notes: Object.entries({ threads: ofThreads, processes: ofProcesses, believing: control }).flatMap(
        ([name, answers]) => answers.map((answer, position) => `${name}, ${position + 1} killed: ${firstLine(answer)}`),
      ),
    };
  },
};

async function killAndAsk({ signal }: RunWorld, stacks: readonly StackInUse[], count: number): Promise<FirstAnswers[]> {
  for (const { groups } of stacks.map(({ stack }) => stack)) {
    const writers = groups.status().filter(({ role }) => role === 'writer');
    for (const { node } of writers.slice(0, count)) void groups.kill(node);
  }
  await sleep(QUIET_SECONDS * 1000, undefined, { signal });
  const answers: FirstAnswers[] = [];
  for (const { stack, ask } of stacks) {
    // Writes to a server that has not come back could not be stored.
    await untilAllRun(stack.groups, signal, { patienceMs: UP_MS });
    answers.push(await ask(`, ${count} killed`));
  }
  return answers;
}
