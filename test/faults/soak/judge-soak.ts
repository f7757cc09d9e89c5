import { otherFaults, type Aftermath } from '../aftermath.ts';
import { check, type Check } from '../fault-run.ts';
import { CONNECTIONS, FUNCTION_MEMORY, PROCESSES, STACK_MEMORY, type Growth } from './judge-samples.ts';
import type { MixedCounts } from './mixed-load.ts';
import { isEmpty, settledResult, type Rest } from './settle.ts';
import type { IndexVerdict } from '../whole-stack.ts';

interface Soaked {
  readonly growth: Growth;
  readonly rest: Rest;
  readonly aftermath: Aftermath;
  readonly counts: MixedCounts;
  readonly index: IndexVerdict;
}

/** The results after everything went wrong. */
interface Sabotaged {
  readonly growth: Growth;
  readonly rest: Rest;
  /** The cells acknowledged before. */
  readonly acked: number;
  readonly lost: number;
  readonly index: IndexVerdict;
}

const GROWING = [
  {
    what: 'memory of the stack, the last minute to the second; control: a leak, in quarters of a minute',
    ...STACK_MEMORY,
  },
  { what: "memory of a function's process, the last minute to the second; control: the same", ...FUNCTION_MEMORY },
  { what: 'connections in the second minute, and in the end; control: some are kept open', ...CONNECTIONS },
  { what: 'processes in the second minute, and in the end; control: some are started', ...PROCESSES },
];

export function judgeSoak({ growth, rest, aftermath, counts, index }: Soaked, control: Sabotaged): readonly Check[] {
  const faults = otherFaults(aftermath) + counts.wrong;
  return [
    ...GROWING.map((bar) => check(bar, growth, control.growth)),
    check(
      {
        what: 'waiting in buffers, in queues, for triggers, parked; control: a group hangs',
        bar: '0, 0, 0, 0',
        result: settledResult,
        holds: isEmpty,
      },
      rest,
      control.rest,
    ),
    {
      what: 'acknowledged cells lost, other faults; control: cells are deleted',
      result: `${aftermath.lost} of ${aftermath.acked.toLocaleString('en-US')}, ${faults}`,
      bar: '0, 0',
      passed: aftermath.lost + faults === 0 && aftermath.acked > 0,
      control: { result: `${control.lost} of ${control.acked.toLocaleString('en-US')}`, failed: control.lost > 0 },
    },
    check(
      {
        what: 'index entries missing, extra or wrong; control: cells are deleted',
        bar: '0',
        result: ({ rows, problems }) => `${problems} of ${rows.toLocaleString('en-US')} rows`,
        holds: ({ entries, problems }) => problems === 0 && entries > 0,
        fails: ({ problems }) => problems > 0,
      },
      index,
      control.index,
    ),
  ];
}
