import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilBuffersEmpty } from '../aftermath.ts';
import { check, grouped, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import { readAccepted, readHeads, type AcceptedCells, type ReadBack } from './accepted-cells.ts';
import { driveBareServer, type BareOutcome } from './bare-control.ts';
import { corpus, ordinary } from './corpus.ts';
import { drive, together, type Driven } from './drive.ts';
import { fuzzed } from './fuzz.ts';
import { watchMemory, type MemoryWatch } from './memory.ts';
import { sender, type HostileRequest } from './send.ts';
import { stackEngine, startProduct } from '../stack-program.ts';
import { WholeStack } from '../whole-stack.ts';

const FUZZED = 10_000;
/** Those of them that the control receives. */
const CONTROL_FUZZED = 1000;
/** Few: an instance in the cloud serves one request at a time, and its memory growth is judged. */
const SIDE_BY_SIDE = 2;
const SHARDS = 16;
/** A fourteenth of the functions' memory in the cloud: one that needs more ends, and counts as crashed. */
const FUNCTION_MB = 128;
const MIB = 1024 * 1024;
/** Memory beyond that of ordinary requests. */
const MOST_GROWN = 256 * MIB;
const BUFFER_PATIENCE_MS = 30_000;
const DATASTORES = fileURLToPath(new URL('datastores', import.meta.url));

export const hostileRun: FaultRun = {
  name: 'hostile',
  promise:
    'Bad input changes nothing and is answered with an error that names the field; what is accepted reads back as it was',
  fault: `a corpus and ${FUZZED.toLocaleString('en-US')} fuzzed requests through the HTTP API of a whole local stack`,
  control: 'a server without limits or checks: JSON.parse and JSON.stringify alone',

  async run(world) {
    const real = await attackStack(world);
    world.say(`the control: ${hostileRun.control}`);
    const control = await driveBareServer([...corpus(world.seed), ...fuzz(world.seed, CONTROL_FUZZED)], world.signal);
    return {
      checks: checksOf(real, control),
      cells: real.cells,
      engine: stackEngine(world),
      notes: [
        `answers: ${statusLine(real.driven)}`,
        `the control's answers: ${statusLine(control.driven)}`,
        ...real.driven.examples,
        ...real.readBack.examples,
      ],
    };
  },
};

interface Attacked {
  readonly driven: Driven;
  readonly crashes: number;
  readonly cells: number;
  readonly readBack: ReadBack;
  readonly grown: ReturnType<MemoryWatch['most']>;
}

async function attackStack(world: RunWorld): Promise<Attacked> {
  const { seed, signal, say } = world;
  const flags = { shards: SHARDS, 'restart-after': 0, functions: 'process', 'function-memory': FUNCTION_MB };
  const start = () => startProduct(world, 'stack', { ...flags, datastores: DATASTORES });
  await using stack = await WholeStack.start(world, 'stack', start);
  const { url } = stack.process;
  using sending = sender(url, SIDE_BY_SIDE);
  const accepted: AcceptedCells = new Map();
  const heads = await readHeads(url);
  const send = (requests: Iterable<HostileRequest>, sideBySide: number): Promise<Driven> =>
    drive({ sender: sending, requests, sideBySide, accepted, signal });
  const usual = await send(ordinary(seed, SHARDS), SIDE_BY_SIDE);
  const memory = watchMemory(stack.process.pid);

  // One by one: a case may build on earlier answers.
  const known = await send(corpus(seed), 1);
  say(
    `the corpus: ${grouped(known.sent)} requests, ${grouped(accepted.size)} cells accepted, ${megabytes(memory.most().bytes)} more at the peak`,
  );
  const random = await send(fuzz(seed, FUZZED), SIDE_BY_SIDE);
  const grown = memory.most();
  say(`${grouped(random.sent)} fuzzed requests; reading ${grouped(accepted.size)} cells back`);

  await untilBuffersEmpty(stack.client(), BUFFER_PATIENCE_MS, signal);
  const readBack = await readAccepted(url, accepted, heads);
  const crashes = crashesIn(join(stack.data, 'functions.log'));
  await stack.process.stop();
  return { driven: together([usual, known, random]), crashes, cells: accepted.size, readBack, grown };
}

function* fuzz(seed: string, count: number) {
  for (let position = 0; position < count; position += 1) yield fuzzed(seed, position);
}

/** Counts instances of functions that ended, or ran out of time, with a request to answer. */
function crashesIn(log: string): number {
  return readFileSync(log, 'utf8').match(/ended before it answered| timed out after /g)?.length ?? 0;
}

function checksOf({ driven, crashes, cells, readBack, grown }: Attacked, control: BareOutcome): readonly Check[] {
  const broken = ({ faults }: Driven): number => faults['server error'] + faults['no answer'];
  const unnamed = ({ faults }: Driven): number => faults['unnamed refusal'] + faults['wrong answer'];
  return [
    {
      what: 'answers of 5xx or none, crashed functions',
      result: `${grouped(broken(driven))} of ${grouped(driven.sent)}, ${crashes}`,
      bar: `0 of at least ${grouped(FUZZED)}, 0`,
      passed: broken(driven) + crashes === 0 && driven.sent >= FUZZED,
      control: {
        result: `${grouped(broken(control.driven))} of ${grouped(control.driven.sent)}`,
        failed: broken(control.driven) > 0,
      },
    },
    check(
      {
        what: 'refusals that name nothing, wrong answers',
        bar: '0',
        result: (of) => grouped(unnamed(of)),
        holds: (of) => unnamed(of) === 0,
      },
      driven,
      control.driven,
    ),
    {
      what: 'accepted cells that read back otherwise, cells of refused input',
      result: `${grouped(readBack.changed)} of ${grouped(cells)}, ${grouped(readBack.extra)}`,
      bar: '0, 0',
      passed: readBack.changed + readBack.extra === 0 && cells > 0,
      control: { result: `${grouped(control.changed)} of ${grouped(control.cells)}`, failed: control.changed > 0 },
    },
    {
      what: 'memory that a process of the stack grew by, at the peak',
      result: `${megabytes(grown.bytes)} (${grown.process})`,
      bar: `< ${megabytes(MOST_GROWN)}`,
      passed: grown.bytes < MOST_GROWN,
      control: { result: megabytes(control.grown), failed: control.grown >= MOST_GROWN },
    },
  ];
}

function statusLine({ statuses }: Driven): string {
  return [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, times]) => `${status === 0 ? 'none' : status} ${grouped(times)}`)
    .join(', ');
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
