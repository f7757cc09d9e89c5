import { readFileSync } from 'node:fs';
import type { StackProcess } from '../../support/processes/stack-process.ts';
import { processTree, type TreeProcess } from '../../support/processes/process-tree.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { groupClient, type GroupAccess } from '../../support/store-access.ts';

/** What a stack takes of the machine at one moment. */
export interface Sample {
  /** Since the watch began. */
  readonly seconds: number;
  /** Of the stack's own process, and of the functions it started. */
  readonly stackBytes: number;
  readonly functionBytes: number;
  readonly functions: number;
  /** Of the database servers. */
  readonly serverBytes: number;
  readonly processes: number;
  /** Undefined where it was not counted. */
  readonly connections: number | undefined;
}

interface StackWatch {
  readonly samples: readonly Sample[];
  stop(): void;
}

const EVERY_MS = 1000;
/** Connections are counted with every so many samples. */
const CONNECTIONS_EVERY = 5;

/** Samples a stack's memory and processes each second, and its connections now and then. */
export function watchStack(stack: StackProcess, root: number): StackWatch {
  const start = performance.now();
  const samples: Sample[] = [];
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    const seconds = (performance.now() - start) / 1000;
    // A server that is just being replaced is not there to be asked.
    void lookAt(stack, root, seconds, ticks % CONNECTIONS_EVERY === 0).then(
      (sample) => samples.push(sample),
      () => undefined,
    );
  }, EVERY_MS);
  return { samples, stop: () => clearInterval(timer) };
}

/** One sample, with connections unless told otherwise. */
export async function lookAt(stack: StackProcess, root: number, seconds: number, isCounted = true): Promise<Sample> {
  const tree = processTree(root);
  const servers = new Set(stack.serverPids);
  const bytesOf = (some: readonly TreeProcess[]): number =>
    some.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  const functions = tree.filter(({ pid }) => isFunction(pid));
  return {
    seconds,
    stackBytes: bytesOf(tree.filter(({ pid }) => pid === root)),
    functionBytes: bytesOf(functions),
    functions: functions.length,
    serverBytes: bytesOf(tree.filter(({ pid }) => servers.has(pid))),
    processes: tree.length,
    connections: isCounted ? await countConnections(stack.groups) : undefined,
  };
}

/** Not of what else the stack starts. */
function isFunction(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('function-runner');
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

const COUNT = {
  sql: 'SELECT COUNT(*) FROM information_schema.processlist WHERE ID <> CONNECTION_ID()',
  parameters: [],
};
const SOON = { connections: 1, connectTimeoutMs: 500, acquireTimeoutMs: 1000, queryTimeoutMs: 1000 };

/** The connections of all servers, replication's own among them. Undefined while one of the servers does not answer. */
async function countConnections(groups: readonly GroupAccess[]): Promise<number | undefined> {
  const counts = await Promise.all(
    groups.map(async ({ name, nodes }) => {
      const client = groupClient(groups, name, SOON);
      try {
        const ofNodes = await Promise.all(nodes.map((_, node) => client.select(COUNT, { node })));
        return ofNodes.reduce((sum, [row]) => sum + toNumber(row?.[0] ?? null), 0);
      } catch {
        return undefined;
      } finally {
        await client.close();
      }
    }),
  );
  return counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  );
}
