import { TAIL_SETTINGS } from '../../shared/triggers/send/settings.ts';
import { MAX_TAILERS } from '../constructs/store-environment.ts';
import type { EnvironmentProps } from '../environments.ts';
import type { Assumptions } from './assumptions.ts';
import type { Load } from './load.ts';

/** A function's calls. */
export interface Calls {
  readonly perSecond: number;
  /** How many run at a moment, one call each. */
  readonly concurrency: number;
  readonly megabytes: number;
}

/** Who asks for what, by the second. */
export interface Traffic {
  /** Of the HTTP API: those of triggers' functions are among them. */
  readonly requests: number;
  readonly reads: number;
  readonly writeCells: Calls;
  readonly readCells: Calls;
  readonly triggerFunctions: Calls;
  /** Functions that run all the time: how many run at a moment on average, and how much memory they have together. */
  readonly loops: { readonly tailers: number; readonly concurrency: number; readonly megabytes: number };
  /** Cells that triggers are called for. */
  readonly triggerCells: number;
  /** Batches of up to ten messages. */
  readonly batches: number;
  /** Requests to SQS: sends, receives with deletes, looks at a queue's depth. */
  readonly sends: number;
  readonly receives: number;
  readonly looks: number;
}

const MESSAGES_A_BATCH = 10;

/** @param groups as the plan has them: tailers send for each group by itself */
export function trafficOf({ environment, writesPerSecond }: Load, groups: number, assumptions: Assumptions): Traffic {
  const {
    readsPerWrite,
    triggersPerWrite,
    readsPerTriggerCall,
    writeMs,
    readMs,
    triggerCallMs,
    functionMb,
    smallFunctionMb,
  } = assumptions;
  // Without schedules nobody sends.
  const triggerCells = environment.schedules ? writesPerSecond * triggersPerWrite : 0;
  const reads = writesPerSecond * readsPerWrite + triggerCells * readsPerTriggerCall;
  const tailers = environment.schedules
    ? Math.min(MAX_TAILERS, Math.max(environment.tailers, Math.ceil(triggerCells / assumptions.cellsPerTailer)))
    : 0;
  const batches = batchesOf(triggerCells, groups * tailers, assumptions.passMs);
  return {
    requests: writesPerSecond + reads,
    reads,
    writeCells: calls(writesPerSecond, writeMs, functionMb),
    readCells: calls(reads, readMs, functionMb),
    triggerFunctions: {
      perSecond: batches,
      concurrency: (triggerCells * triggerCallMs) / 1000,
      megabytes: smallFunctionMb,
    },
    loops: loopsOf(environment, groups, tailers, assumptions),
    triggerCells,
    batches,
    sends: batches,
    receives: Math.max(batches, assumptions.idleReceives * assumptions.triggers) + batches,
    looks: (tailers * assumptions.triggers * 1000) / TAIL_SETTINGS.depthEveryMs,
  };
}

function calls(perSecond: number, milliseconds: number, megabytes: number): Calls {
  return { perSecond, concurrency: (perSecond * milliseconds) / 1000, megabytes };
}

/**
 * Each tailer looks at each group again after a pause and sends what came, up to ten cells a request: the fewer come,
 * the emptier requests are. Batches that are received are taken to be as full as those that were sent.
 */
function batchesOf(cells: number, tailersOfGroups: number, passMs: number): number {
  const passes = (tailersOfGroups * 1000) / ((TAIL_SETTINGS.pauses.leastMs ?? 0) + passMs);
  return Math.max(cells / MESSAGES_A_BATCH, Math.min(cells, passes));
}

function loopsOf(
  { schedules, loopMemoryMb }: EnvironmentProps,
  groups: number,
  tailers: number,
  { overlap, smallFunctionMb }: Assumptions,
): Traffic['loops'] {
  if (!schedules) return { tailers: 0, concurrency: 0, megabytes: 0 };
  // With one group there is nobody to buffer for, and the drain ends at once; so does the mover while nothing is moved.
  const drains = groups > 1 ? 1 : 0;
  const share = 1 + overlap;
  return {
    tailers,
    concurrency: (tailers + 1 + drains) * share,
    megabytes: ((tailers + 1) * loopMemoryMb + drains * smallFunctionMb) * share,
  };
}
