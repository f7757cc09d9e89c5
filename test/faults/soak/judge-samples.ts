import type { Sample } from './watch-stack.ts';

/** How a stack's use of the machine went on, between an early part of a load and its last part. */
export interface Growth {
  /**
   * Of the stack and its functions, in bytes; medians, so that one that is away for seconds does not count. Without the
   * database servers, which are killed now and then and fill their caches anew.
   */
  readonly earlyBytes: number;
  readonly lateBytes: number;
  /** What of the growth is whose, for people. */
  readonly parts: string;
  /** The most there were early. */
  readonly earlyConnections: number;
  readonly earlyProcesses: number;
  /** Once the load was over. */
  readonly endConnections: number;
  readonly endProcesses: number;
}

const MOST_MEMORY_GROWTH = 1.1;
/** Connections come and go with instances of functions that are started and ended each minute. */
const CONNECTION_MARGIN = 16;
const PROCESS_MARGIN = 2;
const MEBIBYTE = 1024 * 1024;

/**
 * @param samples of a load
 * @param seconds how long that lasted
 * @param part how long the early and the late part are: the second and the last of their kind
 * @param end taken once it was over
 */
export function growthOf(samples: readonly Sample[], seconds: number, part: number, end: Sample): Growth {
  const between = (from: number, to: number): readonly Sample[] =>
    samples.filter((sample) => sample.seconds >= from && sample.seconds < to);
  const [early, late] = [between(part, 2 * part), between(seconds - part, seconds)];
  return {
    earlyBytes: median(early.map(ownBytes)),
    lateBytes: median(late.map(ownBytes)),
    parts: [
      partFigure('the stack', early, late, ({ stackBytes }) => stackBytes),
      partFigure('functions', early, late, ({ functionBytes }) => functionBytes),
      partFigure('servers', early, late, ({ serverBytes }) => serverBytes),
    ].join(', '),
    earlyConnections: Math.max(0, ...early.map(({ connections = 0 }) => connections)),
    earlyProcesses: Math.max(0, ...early.map(({ processes }) => processes)),
    endConnections: end.connections ?? Number.POSITIVE_INFINITY,
    endProcesses: end.processes,
  };
}

export function keepsMemory({ earlyBytes, lateBytes }: Growth): boolean {
  return lateBytes > 0 && lateBytes <= MOST_MEMORY_GROWTH * earlyBytes;
}

export function memoryFigure({ earlyBytes, lateBytes }: Growth): string {
  return `${(lateBytes / earlyBytes).toFixed(2)} (${(earlyBytes / MEBIBYTE).toFixed(0)}, ${(lateBytes / MEBIBYTE).toFixed(0)} MiB)`;
}

export const MEMORY_BAR = `≤ ${MOST_MEMORY_GROWTH}`;

export function keepsConnections({ earlyConnections, endConnections }: Growth): boolean {
  return earlyConnections > 0 && endConnections <= earlyConnections + CONNECTION_MARGIN;
}

export function connectionsFigure({ earlyConnections, endConnections }: Growth): string {
  return `${earlyConnections}, ${endConnections}`;
}

export const CONNECTIONS_BAR = `at most ${CONNECTION_MARGIN} more`;

export function keepsProcesses({ earlyProcesses, endProcesses }: Growth): boolean {
  return earlyProcesses > 0 && endProcesses <= earlyProcesses + PROCESS_MARGIN;
}

export function processesFigure({ earlyProcesses, endProcesses }: Growth): string {
  return `${earlyProcesses}, ${endProcesses}`;
}

export const PROCESSES_BAR = `at most ${PROCESS_MARGIN} more`;

function ownBytes({ stackBytes, functionBytes }: Sample): number {
  return stackBytes + functionBytes;
}

function partFigure(
  name: string,
  early: readonly Sample[],
  late: readonly Sample[],
  bytesOf: (sample: Sample) => number,
): string {
  const [before, after] = [early, late].map((samples) => (median(samples.map(bytesOf)) / MEBIBYTE).toFixed(0));
  return `${name} ${before}, ${after} MiB`;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
