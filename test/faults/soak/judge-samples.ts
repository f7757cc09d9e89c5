import { percentile } from '../../support/percentile.ts';
import type { Bar } from '../fault-run.ts';
import type { Sample } from './watch-stack.ts';

/** The change in a stack's use of the machine, between an early part of a load and its last part. */
export interface Growth {
  readonly early: Memory;
  readonly late: Memory;
  /** Early and late values, for people. */
  readonly parts: string;
  /** The most in the early part. */
  readonly earlyConnections: number;
  readonly earlyProcesses: number;
  /** After the load. */
  readonly endConnections: number;
  readonly endProcesses: number;
}

/**
 * The memory of processes, in bytes; medians, so that a moment without one does not count. Excludes the database
 * servers, which are killed at times and then fill their caches again.
 */
interface Memory {
  readonly stack: number;
  /** The average of the functions' processes: how many run depends on load and faults. */
  readonly aFunction: number;
}

const MOST_MEMORY_GROWTH = 1.1;
/** Connections come and go with instances of functions, which start and end each minute. */
const CONNECTION_MARGIN = 16;
const PROCESS_MARGIN = 2;
const MEBIBYTE = 1024 * 1024;

/**
 * @param samples of a load
 * @param seconds the length of the load
 * @param part the length of the early and the late part: the second and the last of their kind
 * @param end taken after the load
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
    result: ({ early: { [whose]: before }, late: { [whose]: after } }) =>
      `${(after / before).toFixed(2)} (${mebibytes(before)}, ${mebibytes(after)} MiB)`,
    holds: ({ early, late }) => late[whose] > 0 && late[whose] <= MOST_MEMORY_GROWTH * early[whose],
  };
}

export const STACK_MEMORY = memoryGrowth('stack');
export const FUNCTION_MEMORY = memoryGrowth('aFunction');

export const CONNECTIONS: Measure = {
  bar: `at most ${CONNECTION_MARGIN} more`,
  result: ({ earlyConnections, endConnections }) => `${earlyConnections}, ${endConnections}`,
  holds: ({ earlyConnections, endConnections }) =>
    earlyConnections > 0 && endConnections <= earlyConnections + CONNECTION_MARGIN,
};

export const PROCESSES: Measure = {
  bar: `at most ${PROCESS_MARGIN} more`,
  result: ({ earlyProcesses, endProcesses }) => `${earlyProcesses}, ${endProcesses}`,
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

/** Returns 0 without values. */
function median(values: readonly number[]): number {
  return values.length === 0 ? 0 : percentile(values, 0.5);
}
