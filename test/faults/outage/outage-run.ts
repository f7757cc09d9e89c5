import { faultsLine, lossCheck } from '../aftermath.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { outcomesLine } from '../load/ledger.ts';
import { DAMAGED, type DamagedFate } from './damaged-rows.ts';
import { latencyLine, percentile, sentBetween } from './latency.ts';
import { loseHolders, type Missing } from './lost-holders.ts';
import { OUTAGE_SECONDS, outages, type OutagePart, type Outages } from './outage-stage.ts';

const LEAST_ACCEPTED = 0.999;
const MOST_SLOWER = 2;
const LEAST_CELLS = 10_000;

export const outageRun: FaultRun = {
  name: 'outage',
  promise: 'Writes go on while a primary is down, are drained once it is back, and its own writes come first',
  fault: `a group's writer down for ${OUTAGE_SECONDS} s under a steady load; rows of the buffer damaged by hand; the groups with copies killed`,
  control: 'no buffer; a drain without throttle and without parking; a single copy, whose group dies while the primary is down',
  alone: true,

  async run(world: RunWorld): Promise<RunOutcome> {
    const done = await outages(world);
    const holders = await loseHolders(world);
    const { real, unthrottled, aftermath, writes, shards, normal, busy } = done;
    const seconds = world.seconds ?? OUTAGE_SECONDS;
    const loss = lossCheck('acknowledged cells lost, other faults; control: a single copy', aftermath, aftermath, LEAST_CELLS);
    return {
      checks: [
        accepted(done),
        drained(real, unthrottled, 2 * seconds),
        ownWrites(done),
        { ...loss, control: missing(holders.primaryDown) },
        parked(real.damaged, unthrottled.damaged),
        { what: 'missing when all groups with copies die; control: the primary is down, too', figure: figure(holders.primaryUp), bar: '0', passed: holders.primaryUp.missing === 0, control: missing(holders.primaryDown) },
      ],
      cells: aftermath.acked,
      engine: done.engine,
      notes: [
        outcomesLine(aftermath.outcomes),
        `writes to the group in normal times, with the machine ${(busy * 100).toFixed(0)} % busy: ${latencyLine(sentBetween(writes, normal.from, normal.to, shards))}`,
        `… while it was down: ${latencyLine(sentBetween(writes, real.downtime.downAt, real.downtime.backAt, shards))}`,
        `… while ${real.downtime.backlog.toLocaleString('en-US')} rows were drained: ${latencyLine(whileDrained(done, real))}`,
        `… while a drain that hurried drained ${unthrottled.downtime.backlog.toLocaleString('en-US')}: ${latencyLine(whileDrained(done, unthrottled))}`,
        faultsLine(aftermath),
        ...aftermath.wrongExamples,
      ],
    };
  },
};

function accepted({ writes, shards, real, refused }: Outages): Check {
  const meanwhile = sentBetween(writes, real.downtime.downAt, real.downtime.backAt, shards);
  const count = meanwhile.filter(({ outcome }) => outcome !== 'unavailable' && outcome !== 'conflict').length;
  return {
    what: 'writes accepted while their primary is down; control: no buffer',
    figure: `${percent(count / meanwhile.length)} of ${meanwhile.length.toLocaleString('en-US')}`,
    bar: `>= ${percent(LEAST_ACCEPTED)}`,
    passed: meanwhile.length > 0 && count / meanwhile.length >= LEAST_ACCEPTED,
    control: { figure: `${percent(refused.accepted / refused.tried)} of ${refused.tried}`, failed: refused.accepted / refused.tried < LEAST_ACCEPTED },
  };
}

/** The control's drain never gives a row up: those that cannot be drained wait for ever. */
function drained(real: OutagePart, unthrottled: OutagePart, mostSeconds: number): Check {
  const seconds = (real.downtime.emptyAt - real.downtime.backAt) / 1000;
  return {
    what: 'seconds until the buffer is empty; control: rows still waiting without parking',
    figure: `${seconds.toFixed(1)}, ${real.damaged.waiting} left`,
    bar: `< ${mostSeconds}, 0`,
    passed: seconds < mostSeconds && real.damaged.waiting === 0,
    control: { figure: `${unthrottled.damaged.waiting} left`, failed: unthrottled.damaged.waiting > 0 },
  };
}

function ownWrites(done: Outages): Check {
  const { writes, normal, shards, real, unthrottled } = done;
  const base = percentile(sentBetween(writes, normal.from, normal.to, shards), 0.99);
  const slower = (part: OutagePart): number => percentile(whileDrained(done, part), 0.99) / base;
  const [own, hurried] = [slower(real), slower(unthrottled)];
  return {
    what: "p99 of the primary's own writes while drained, in normal ones; control: no throttle",
    figure: own.toFixed(2),
    bar: `< ${MOST_SLOWER}`,
    passed: own < MOST_SLOWER,
    control: { figure: hurried.toFixed(2), failed: hurried >= MOST_SLOWER },
  };
}

function parked(real: DamagedFate, control: DamagedFate): Check {
  return {
    what: 'damaged rows parked, appended as they are; other rows parked; control: no parking',
    figure: `${real.parked}, ${real.gone}; ${real.othersParked}`,
    bar: `${DAMAGED}, 0; 0`,
    passed: real.parked === DAMAGED && real.gone + real.othersParked === 0,
    control: { figure: `${control.parked}, ${control.gone}; ${control.othersParked}`, failed: control.parked < DAMAGED },
  };
}

function whileDrained({ writes, shards }: Outages, { downtime }: OutagePart) {
  return sentBetween(writes, downtime.backAt, downtime.emptyAt, shards);
}

function missing(control: Missing): Check['control'] {
  return { figure: figure(control), failed: control.missing > 0 };
}

function figure({ missing: count, acked }: Missing): string {
  return `${count} of ${acked}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
