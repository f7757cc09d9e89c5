import { readFileSync } from 'node:fs';
import type { StackProcess } from '../../support/processes/stack-process.ts';
import { processTree, type TreeProcess } from '../../support/processes/process-tree.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { groupClient, type GroupAccess } from '../../support/store-access.ts';

/** A stack's use of the machine at one moment. */
export interface Sample {
  /** Since the watch began. */
  readonly seconds: number;
  /** Bytes of the stack's own process, and of the functions that it started. */
  readonly stackBytes: number;
  readonly functionBytes: number;
  readonly functions: number;
  /** Bytes of the database servers. */
  readonly serverBytes: number;
  readonly processes: number;
  /** Undefined if not counted. */
  readonly connections: number | undefined;
}

interface StackWatch extends Disposable {
  readonly samples: readonly Sample[];
}

const EVERY_MS = 1000;
/** Every nth sample counts connections. */
const CONNECTIONS_EVERY = 5;

/** Samples a stack's memory and processes each second, and its connections now and then. */
export function watchStack(stack: StackProcess): StackWatch {
  const start = performance.now();
  const samples: Sample[] = [];
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    const seconds = (performance.now() - start) / 1000;
    // A server that is being replaced cannot be asked.
    void checkAt(stack, seconds, ticks % CONNECTIONS_EVERY === 0).then(
      (sample) => samples.push(sample),
      () => undefined,
    );
  }, EVERY_MS);
  return { samples, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Takes one sample, with connections unless told otherwise. */
export async function checkAt(stack: StackProcess, seconds: number, isCounted = true): Promise<Sample> {
  const root = stack.pid;
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

/** Returns whether it is a function, unlike the stack's other children. */
function isFunction(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('function-runner');
  } catch {
    // It has ended.
    return false;
  }
}

const COUNT = {
  sql: 'SELECT COUNT(*) FROM information_schema.processlist WHERE ID <> CONNECTION_ID()',
  parameters: [],
};
const SOON = { connections: 1, connectTimeoutMs: 500, acquireTimeoutMs: 1000, queryTimeoutMs: 1000 };

/** Counts the connections of all servers, including replication. Returns undefined while a server does not answer. */
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
