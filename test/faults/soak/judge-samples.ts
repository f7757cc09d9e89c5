import type { Bar } from '../fault-run.ts';
import type { Sample } from './watch-stack.ts';

/** How a stack's use of the machine went on, between an early part of a load and its last part. */
export interface Growth {
  readonly early: Memory;
  readonly late: Memory;
  /** Early and late, for people. */
  readonly parts: string;
  /** The most there were early. */
  readonly earlyConnections: number;
  readonly earlyProcesses: number;
  /** Once the load was over. */
  readonly endConnections: number;
  readonly endProcesses: number;
}

/**
 * What processes take, in bytes; medians, so that a moment does not count in which one is away. Without the database
 * servers, which are killed now and then and fill their caches anew.
 */
interface Memory {
  readonly stack: number;
  /** Of one of the functions' processes, on the average: how many of them run follows from load and faults. */
  readonly aFunction: number;
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
    early: memoryOf(early),
    late: memoryOf(late),
    parts: Object.entries({ functions: 'functionBytes', servers: 'serverBytes' } as const)
      .map(([name, part]) => {
        const [before, after] = [early, late].map((some) => mebibytes(median(some.map((one) => one[part]))));
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

function memoryGrowth(whose: keyof Memory): Measure {
  return {
    bar: `≤ ${MOST_MEMORY_GROWTH}`,
    figure: ({ early: { [whose]: before }, late: { [whose]: after } }) =>
      `${(after / before).toFixed(2)} (${mebibytes(before)}, ${mebibytes(after)} MiB)`,
    holds: ({ early, late }) => late[whose] > 0 && late[whose] <= MOST_MEMORY_GROWTH * early[whose],
  };
}

export const STACK_MEMORY = memoryGrowth('stack');
export const FUNCTION_MEMORY = memoryGrowth('aFunction');

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

function memoryOf(samples: readonly Sample[]): Memory {
  return {
    stack: median(samples.map(({ stackBytes }) => stackBytes)),
    aFunction: median(samples.map(({ functionBytes, functions }) => functionBytes / Math.max(1, functions))),
  };
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(0);
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
