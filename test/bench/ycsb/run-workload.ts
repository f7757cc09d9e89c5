import { SchemalessError } from '../../../shared/errors.ts';
import type { Datastore } from '../../../shared/store/datastore.ts';
import { Random } from '../../demo/trips/random.ts';
import { closedLoop } from '../../faults/overload/pace.ts';
import { Latencies } from '../growth/latencies.ts';
import { recordOperations } from './record-operations.ts';
import type { RecordNumbers } from './record-numbers.ts';
import type { RecordColumn } from './records.ts';
import { RECORDS, type Workload, type YcsbOperation } from './workloads.ts';
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
}

export interface WorkloadRun {
  readonly workload: Workload;
  readonly datastore: Datastore;
  /** The records of each column, as the workloads before have left them. */
  readonly numbers: Readonly<Record<RecordColumn, RecordNumbers>>;
  readonly seed: string;
  readonly signal: AbortSignal;
}

const CLIENTS = 32;
const WARM_UP_MS = 3000;
const SECONDS = 20;

export async function runWorkload({ workload, datastore, numbers: ofColumns, seed, signal }: WorkloadRun): Promise<WorkloadResult> {
  const column: RecordColumn = workload.mix.scan === undefined ? 'BASE' : 'POST';
  const random = new Random(seed, workload.name, RECORDS);
  const numbers = ofColumns[column];
  const draw = workload.chosen === 'latest' ? latestZipfian() : scatteredZipfian();
  const operations = recordOperations({ datastore, column, numbers, random, choose: () => draw(random, numbers.count) });
  const mix = Object.entries(workload.mix) as [YcsbOperation, number][];

  async function load(milliseconds: number): Promise<Omit<WorkloadResult, 'workload' | 'overtaken'>> {
    const latencies = new Map(mix.map(([operation]) => [operation, new Latencies()]));
    let failed = 0;
    const send = async (): Promise<void> => {
      signal.throwIfAborted();
      const operation = drawn(mix, random.next());
      const start = performance.now();
      const isDone = await operations[operation]().catch(refused);
      if (isDone) latencies.get(operation)?.note(performance.now() - start);
      else failed += 1;
    };
    const start = performance.now();
    await closedLoop({ clients: CLIENTS, milliseconds, send });
    const done = [...latencies.values()].reduce((sum, { count }) => sum + count, 0);
    return { perSecond: (done * 1000) / (performance.now() - start), latencies, failed };
  }

  await load(WARM_UP_MS);
  const before = operations.overtaken;
  const result = await load(SECONDS * 1000);
  return { workload, ...result, overtaken: operations.overtaken - before };
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
