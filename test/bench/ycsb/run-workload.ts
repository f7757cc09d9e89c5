import { SchemalessError } from '../../../shared/errors.ts';
import { Random } from '../../support/random.ts';
import { closedLoop } from '../../support/pace.ts';
import { Latencies } from '../growth/latencies.ts';
import { recordOperations, type RecordStore } from './record-operations.ts';
import type { RecordNumbers } from './record-numbers.ts';
import type { RecordColumn } from './records.ts';
import { expectedInserts, type Workload, type YcsbOperation } from './workloads.ts';
import { latestZipfian, scatteredZipfian } from './zipfian.ts';

/** What a workload's clients saw. */
export interface WorkloadResult {
  readonly workload: Workload;
  /** Operations of all kinds. */
  readonly perSecond: number;
  readonly latencies: ReadonlyMap<YcsbOperation, Latencies>;
  readonly failed: number;
  /** Read-modify-writes that read again. */
  readonly overtaken: number;
  /** Undefined where the newest records are asked for most, one after the other. */
  readonly hottest: HottestRecord | undefined;
}

/** How much the record that is asked for most gets of all that is asked, 0 to 1. */
export interface HottestRecord {
  readonly share: number;
  /** By the law that the draws follow. */
  readonly inTheory: number;
}

export interface WorkloadRun {
  readonly workload: Workload;
  readonly datastore: RecordStore;
  /** The records of each column, as the workloads before have left them. */
  readonly numbers: Readonly<Record<RecordColumn, RecordNumbers>>;
  /** Clients with one operation under way each. */
  readonly threads: number;
  /** @default as many as the time allows */
  readonly operations?: number | undefined;
  /** At most. */
  readonly seconds: number;
  readonly seed: string;
  readonly signal: AbortSignal;
}

const WARM_UP_MS = 3000;
/** Of the operations that are asked for, so that few of them are not preceded by many. */
const WARM_UP_SHARE = 0.1;

export async function runWorkload({
  workload,
  datastore,
  numbers: ofColumns,
  threads,
  operations: most,
  seconds,
  seed,
  signal,
}: WorkloadRun): Promise<WorkloadResult> {
  const column: RecordColumn = workload.mix.scan === undefined ? 'BASE' : 'POST';
  const random = new Random(seed, workload.name, 0);
  const numbers = ofColumns[column];
  const choice =
    workload.chosen === 'latest'
      ? newestFirst(numbers)
      : countedZipfian(numbers, expectedInserts(workload, { operations: most, seconds }));
  const operations = recordOperations({
    datastore,
    column,
    numbers,
    random,
    choose: () => choice.next(random),
    mostScanned: workload.mostScanned,
  });
  const mix = Object.entries(workload.mix) as [YcsbOperation, number][];

  async function load(
    milliseconds: number,
    wanted = Number.POSITIVE_INFINITY,
  ): Promise<Pick<WorkloadResult, 'perSecond' | 'latencies' | 'failed'>> {
    const latencies = new Map(mix.map(([operation]) => [operation, new Latencies()]));
    let [begun, failed] = [0, 0];
    const send = async (): Promise<void> => {
      signal.throwIfAborted();
      begun += 1;
      const operation = drawn(mix, random.next());
      const start = performance.now();
      const isDone = await operations[operation]().catch(refused);
      if (isDone) latencies.get(operation)?.note(performance.now() - start);
      else failed += 1;
    };
    const start = performance.now();
    await closedLoop({ clients: threads, milliseconds, isOver: () => begun >= wanted, send });
    const done = [...latencies.values()].reduce((sum, { count }) => sum + count, 0);
    return { perSecond: (done * 1000) / (performance.now() - start), latencies, failed };
  }

  await load(WARM_UP_MS, most === undefined ? undefined : most * WARM_UP_SHARE);
  const before = operations.overtaken;
  const result = await load(seconds * 1000, most);
  return { workload, ...result, overtaken: operations.overtaken - before, hottest: choice.hottest() };
}

/** Which record is asked for next. */
interface Choice {
  next(random: Random): number;
  hottest(): HottestRecord | undefined;
}

function newestFirst(numbers: RecordNumbers): Choice {
  const draw = latestZipfian();
  return { next: (random) => draw(random, numbers.count), hottest: () => undefined };
}

function countedZipfian(numbers: RecordNumbers, inserts: number): Choice {
  const zipfian = scatteredZipfian(numbers.count + inserts);
  const asked = new Map<number, number>();
  let all = 0;
  return {
    next(random) {
      const number = zipfian.draw(random, numbers.count);
      asked.set(number, (asked.get(number) ?? 0) + 1);
      all += 1;
      return number;
    },
    hottest: () => ({
      share: [...asked.values()].reduce((most, times) => Math.max(most, times), 0) / Math.max(1, all),
      inTheory: zipfian.hottestShare(numbers.count),
    }),
  };
}

/** The operation that a number of 0 to 1 stands for. */
function drawn(mix: readonly (readonly [YcsbOperation, number])[], number: number): YcsbOperation {
  let left = number;
  for (const [operation, share] of mix) {
    if (left < share) return operation;
    left -= share;
  }
  return mix[0]?.[0] ?? 'read';
}

function refused(error: unknown): false {
  if (error instanceof SchemalessError) return false;
  throw error;
}
