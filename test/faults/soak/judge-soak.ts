import type { Aftermath } from '../aftermath.ts';
import type { Check } from '../fault-run.ts';
import {
  CONNECTIONS_BAR,
  connectionsFigure,
  keepsConnections,
  keepsMemory,
  keepsProcesses,
  MEMORY_BAR,
  memoryFigure,
  PROCESSES_BAR,
  processesFigure,
  type Growth,
} from './judge-samples.ts';
import type { MixedCounts } from './mixed-load.ts';
import { isEmpty, restFigure, type Rest } from './settle.ts';
import type { IndexVerdict } from './verify-index.ts';

/** What a soak left. */
export interface Soaked {
  readonly growth: Growth;
  readonly rest: Rest;
  readonly aftermath: Aftermath;
  readonly counts: MixedCounts;
  readonly index: IndexVerdict;
}

/** The same after everything went wrong. */
export interface Sabotaged {
  readonly growth: Growth;
  readonly rest: Rest;
  /** Of the cells acknowledged before. */
  readonly acked: number;
  readonly lost: number;
  readonly index: IndexVerdict;
}

export function judgeSoak({ growth, rest, aftermath, counts, index }: Soaked, control: Sabotaged): readonly Check[] {
  const faults = Object.values(aftermath.faults).reduce((sum, count) => sum + count, 0) + counts.wrong;
  return [
    {
      what: "memory of stack and functions, the last minute to the second; control: a leak, in quarters of a minute",
      figure: memoryFigure(growth),
      bar: MEMORY_BAR,
      passed: keepsMemory(growth),
      control: { figure: memoryFigure(control.growth), failed: !keepsMemory(control.growth) },
    },
    {
      what: 'connections in the second minute, and in the end; control: some are kept open',
      figure: connectionsFigure(growth),
      bar: CONNECTIONS_BAR,
      passed: keepsConnections(growth),
      control: { figure: connectionsFigure(control.growth), failed: !keepsConnections(control.growth) },
    },
    {
      what: 'processes in the second minute, and in the end; control: some are started',
      figure: processesFigure(growth),
      bar: PROCESSES_BAR,
      passed: keepsProcesses(growth),
      control: { figure: processesFigure(control.growth), failed: !keepsProcesses(control.growth) },
    },
    {
      what: 'waiting in buffers, in queues, for triggers, parked; control: a group hangs',
      figure: restFigure(rest),
      bar: '0, 0, 0, 0',
      passed: isEmpty(rest),
      control: { figure: restFigure(control.rest), failed: !isEmpty(control.rest) },
    },
    {
      what: 'acknowledged cells lost, other faults; control: cells are deleted',
      figure: `${aftermath.lost} of ${aftermath.acked.toLocaleString('en-US')}, ${faults}`,
      bar: '0, 0',
      passed: aftermath.lost + faults === 0 && aftermath.acked > 0,
      control: { figure: `${control.lost} of ${control.acked.toLocaleString('en-US')}`, failed: control.lost > 0 },
    },
    {
      what: 'index entries missing, extra or wrong; control: cells are deleted',
      figure: indexFigure(index),
      bar: '0',
      passed: index.problems === 0 && index.entries > 0,
      control: { figure: indexFigure(control.index), failed: control.index.problems > 0 },
    },
  ];
}

function indexFigure({ rows, problems }: IndexVerdict): string {
  return `${problems} of ${rows.toLocaleString('en-US')} rows`;
}
