import type { Bar } from '../fault-run.ts';
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
    parts: Object.entries({ 'the stack': 'stackBytes', functions: 'functionBytes', servers: 'serverBytes' } as const)
      .map(([name, part]) => {
        const [before, after] = [early, late].map((some) =>
          (median(some.map((one) => one[part])) / MEBIBYTE).toFixed(0),
        );
        return `${name} ${before}, ${after} MiB`;
      })
      .join(', '),
    earlyConnections: Math.max(0, ...early.map(({ connections = 0 }) => connections)),
    earlyProcesses: Math.max(0, ...early.map(({ processes }) => processes)),
    endConnections: end.connections ?? Number.POSITIVE_INFINITY,
    endProcesses: end.processes,
  };
}

type Measure = Omit<Bar<Growth>, 'what'>;

export const MEMORY: Measure = {
  bar: `≤ ${MOST_MEMORY_GROWTH}`,
  figure: ({ earlyBytes, lateBytes }) =>
    `${(lateBytes / earlyBytes).toFixed(2)} (${(earlyBytes / MEBIBYTE).toFixed(0)}, ${(lateBytes / MEBIBYTE).toFixed(0)} MiB)`,
  holds: ({ earlyBytes, lateBytes }) => lateBytes > 0 && lateBytes <= MOST_MEMORY_GROWTH * earlyBytes,
};

export const CONNECTIONS: Measure = {
  bar: `at most ${CONNECTION_MARGIN} more`,
  figure: ({ earlyConnections, endConnections }) => `${earlyConnections}, ${endConnections}`,
  holds: ({ earlyConnections, endConnections }) =>
    earlyConnections > 0 && endConnections <= earlyConnections + CONNECTION_MARGIN,
};

export const PROCESSES: Measure = {
  bar: `at most ${PROCESS_MARGIN} more`,
  figure: ({ earlyProcesses, endProcesses }) => `${earlyProcesses}, ${endProcesses}`,
  holds: ({ earlyProcesses, endProcesses }) => earlyProcesses > 0 && endProcesses <= earlyProcesses + PROCESS_MARGIN,
};

function ownBytes({ stackBytes, functionBytes }: Sample): number {
  return stackBytes + functionBytes;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
