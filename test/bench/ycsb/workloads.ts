import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseProperties, type Properties } from './properties.ts';

/** What a client of the benchmark does with a record. */
export type YcsbOperation = 'read' | 'update' | 'insert' | 'scan' | 'read-modify-write';

/** A workload as its property file has it. */
export interface Workload {
  /** "A, update heavy" */
  readonly name: string;
  /** Shares of 1, in the order in which a draw is held against them; what there is none of is left out. */
  readonly mix: Readonly<Partial<Record<YcsbOperation, number>>>;
  /** Which records are asked for: some far more often than others, or the newest most of all. */
  readonly chosen: 'zipfian' | 'latest';
  /** Records of a scan: 1 to this, all equally likely. */
  readonly mostScanned: number;
  readonly recordCount: number;
  readonly operationCount: number;
}

const SHARES: Readonly<Record<YcsbOperation, string>> = {
  read: 'readproportion',
  update: 'updateproportion',
  scan: 'scanproportion',
  insert: 'insertproportion',
  'read-modify-write': 'readmodifywriteproportion',
};
/** Where a file says nothing. The benchmark's own, but for shares: every file here says all that it has. */
const MOST_SCANNED = 1000;

/** As the benchmark's wiki says to run them: those that add records come last. */
const FILES = {
  workloada: 'A, update heavy',
  workloadb: 'B, read mostly',
  workloadc: 'C, read only',
  workloadf: 'F, read-modify-write',
  workloadd: 'D, read latest',
  workloade: 'E, short ranges',
} as const;

/**
 * The six core workloads of B. F. Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010, with the
 * properties of the files of those names in github.com/brianfrankcooper/YCSB.
 */
export function readWorkloads(): readonly Workload[] {
  return Object.entries(FILES).map(([file, name]) =>
    toWorkload(name, parseProperties(readFileSync(join(import.meta.dirname, 'workloads', file), 'utf8'))),
  );
}

/** Throws an Error that names the property, what was wanted and what came. */
export function toWorkload(name: string, properties: Properties): Workload {
  const number = (key: string, otherwise?: number): number => {
    const text = properties.get(key)?.trim();
    const value = text === undefined ? otherwise : text === '' ? Number.NaN : Number(text);
    if (value !== undefined && value >= 0 && Number.isFinite(value)) return value;
    throw new Error(`workload ${name}: ${key}: wanted a number from 0, got ${JSON.stringify(text)}`);
  };
  const only = <Value extends string>(key: string, ...wanted: readonly Value[]): Value => {
    const found = wanted.find((value) => value === properties.get(key)?.trim());
    if (found !== undefined) return found;
    throw new Error(
      `workload ${name}: ${key}: wanted ${wanted.join(' or ')}, got ${JSON.stringify(properties.get(key))}`,
    );
  };
  const mix = Object.fromEntries(
    Object.entries(SHARES)
      .map(([operation, key]) => [operation, number(key, 0)] as const)
      .filter(([, share]) => share > 0),
  );
  const sum = Object.values(mix).reduce((all, share) => all + share, 0);
  if (Math.abs(sum - 1) > 1e-9) throw new Error(`workload ${name}: wanted shares whose sum is 1, got ${sum}`);
  // What a scan draws its length by, and whether a read gets all fields, is written down here for one value alone.
  if (mix['scan'] !== undefined) only('scanlengthdistribution', 'uniform');
  only('readallfields', 'true');
  return {
    name,
    mix,
    chosen: only('requestdistribution', 'zipfian', 'latest'),
    mostScanned: number('maxscanlength', MOST_SCANNED),
    recordCount: number('recordcount'),
    operationCount: number('operationcount'),
  };
}

/** Inserts a second that a workload is to come to at most: twice what 1 in 20 of 10,000 operations are. */
const INSERTS_A_SECOND = 1000;

/** The most inserts that a run is to come to, as the benchmark reckons where their number is known. */
export function expectedInserts(
  { mix: { insert = 0 } }: Workload,
  { operations, seconds }: { readonly operations?: number | undefined; readonly seconds: number },
): number {
  if (insert === 0) return 0;
  return operations === undefined ? INSERTS_A_SECOND * seconds : Math.ceil(operations * insert * 2);
}
