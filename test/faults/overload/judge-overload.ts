import { otherFaults, type Aftermath } from '../aftermath.ts';
import { grouped, shareResult, type Check } from '../fault-run.ts';
import type { LoadResult } from './put-client.ts';

interface Overloads {
  readonly load: LoadResult;
  readonly aftermath: Aftermath;
  readonly refusedMissing: number;
  readonly unbounded: LoadResult;
  /** Without anything that refuses a request, or bounds a wait. */
  readonly openDoor: LoadResult;
}

const LEAST_GOODPUT = 0.8;
const MOST_RECOVERY_SECONDS = 10;
const MOST_TRIES = 1.2;
const CONTROL_TRIES = 2;
const MOST_WAIT_MS = 2000;

export function judgeOverload({ load, aftermath, refusedMissing, unbounded, openDoor }: Overloads): readonly Check[] {
  const wrong = otherFaults(aftermath);
  return [
    {
      what: 'goodput of the peak, seconds until calm; control: an open door',
      result: goodputResult(load),
      bar: `≥ ${LEAST_GOODPUT * 100} %, < ${MOST_RECOVERY_SECONDS} s`,
      passed: goesOn(load),
      control: { result: goodputResult(openDoor), failed: !goesOn(openDoor) },
    },
    {
      what: 'p99 of the time to any answer; 503s without Retry-After; control: an open door',
      result: refusalResult(load),
      bar: `< ${MOST_WAIT_MS / 1000} s, 0 of at least 100`,
      passed: load.refusals.count >= 100 && refusesEarly(load),
      control: { result: refusalResult(openDoor), failed: !refusesEarly(openDoor) },
    },
    {
      what: 'tries per request; control: no retry budget',
      result: triesPerRequest(load).toFixed(2),
      bar: `≤ ${MOST_TRIES}`,
      passed: triesPerRequest(load) <= MOST_TRIES,
      control: { result: triesPerRequest(unbounded).toFixed(2), failed: triesPerRequest(unbounded) > CONTROL_TRIES },
    },
    {
      what: 'acknowledged cells lost, other faults; control: refused cells that are not there',
      result: `${shareResult({ wrong: aftermath.lost, of: aftermath.acked })}, ${wrong}`,
      bar: '0, 0',
      passed: aftermath.lost + wrong === 0 && aftermath.acked > 0,
      control: {
        result: shareResult({ wrong: refusedMissing, of: load.refusedCells.length }),
        failed: refusedMissing > 0,
      },
    },
  ];
}

export function loadLine(load: LoadResult): string {
  const { normal, offered, requests, refusals, latenessP99, open } = load;
  const calm = `peak ${normal.peak.toFixed(0)}/s, gentle p99 ${normal.gentleP99.toFixed(0)} ms`;
  return `${calm}; ${offered.toFixed(0)}/s offered: ${goodputResult(load)}, ${triesPerRequest(load).toFixed(2)} tries for each of ${grouped(requests)} requests, ${grouped(refusals.count)} answered 503; ${open} open in the end; started late by ${latenessP99.toFixed(0)} ms (p99)`;
}

function goesOn({ goodput, normal, recoverySeconds = Infinity }: LoadResult): boolean {
  return goodput >= LEAST_GOODPUT * normal.peak && recoverySeconds < MOST_RECOVERY_SECONDS;
}

function goodputResult({ goodput, normal, recoverySeconds }: LoadResult): string {
  const calm = recoverySeconds === undefined ? 'never calm' : `${recoverySeconds.toFixed(2)} s`;
  return `${((goodput / normal.peak) * 100).toFixed(0)} %, ${calm}`;
}

function refusesEarly({ refusals, waitedP99 }: LoadResult): boolean {
  return refusals.withoutRetryAfter === 0 && waitedP99 < MOST_WAIT_MS;
}

function refusalResult({ waitedP99, refusals: { count, withoutRetryAfter } }: LoadResult): string {
  return `${(waitedP99 / 1000).toFixed(2)} s, ${shareResult({ wrong: withoutRetryAfter, of: count })}`;
}

function triesPerRequest({ tries, requests }: LoadResult): number {
  return tries / Math.max(1, requests);
}
