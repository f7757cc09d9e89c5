import { check, grouped, shareFigure, sumOf, type Check, type FaultRun, type Share } from '../fault-run.ts';
import { aftermathNotes, lossCheck } from '../aftermath.ts';
import type { Answer } from '../load/ask.ts';
import { begunIn, latencyLine, percentile } from '../load/latency.ts';
import { DAMAGED, type DamagedFate } from './damaged-rows.ts';
import { loseHolders } from './lost-holders.ts';
import { OUTAGE_SECONDS, outages, type Outage, type Outages } from './outages.ts';

const LEAST_ACCEPTED = 0.999;
const MOST_SLOWER = 2;
const LEAST_CELLS = 10_000;

export const outageRun: FaultRun = {
  name: 'outage',
  promise: 'Writes go on while a primary is down, are drained once it is back, and its own writes come first',
  fault: `a group's writer down for ${OUTAGE_SECONDS} s under a steady load; rows of the buffer damaged by hand; the groups with copies killed`,
  control:
    'no buffer; a drain without throttle and without parking; a single copy, whose group dies while the primary is down',
  alone: true,

  async run(world) {
    const done = await outages(world);
    const holders = await loseHolders(world);
    const { real, unthrottled, aftermath, writes, shards, normal, busy } = done;
    const seconds = world.seconds ?? OUTAGE_SECONDS;
    const missing = missingCheck(holders.primaryUp, holders.primaryDown);
    const lost = 'acknowledged cells lost, other faults; control: a single copy';
    return {
      checks: [
        accepted(done),
        drained(real, unthrottled, 2 * seconds),
        ownWrites(done),
        { ...lossCheck(lost, aftermath, aftermath, LEAST_CELLS), control: missing.control },
        parked(real.damaged, unthrottled.damaged),
        missing,
      ],
      cells: aftermath.acked,
      engine: done.engine,
      notes: [
        `writes to the group in normal times, with the machine ${(busy * 100).toFixed(0)} % busy: ${latencyLine(begunIn(writes, normal, shards))}`,
        `… while it was down: ${latencyLine(begunIn(writes, real.down, shards))}`,
        `… while ${grouped(real.backlog)} rows were drained: ${latencyLine(whileDrained(done, real))}`,
        `… while a drain that hurried drained ${grouped(unthrottled.backlog)}: ${latencyLine(whileDrained(done, unthrottled))}`,
        ...aftermathNotes(aftermath),
      ],
    };
  },
};

function accepted({ writes, shards, real, unbuffered }: Outages): Check {
  const meanwhile = begunIn(writes, real.down, shards);
  const refused = meanwhile.filter(({ outcome }) => outcome === 'unavailable' || outcome === 'conflict').length;
  const shareOf = ({ wrong, of }: Share): number => 1 - wrong / of;
  return check(
    {
      what: 'writes accepted while their primary is down; control: no buffer',
      bar: `>= ${percent(LEAST_ACCEPTED)}`,
      figure: (share) => `${percent(shareOf(share))} of ${grouped(share.of)}`,
      holds: (share) => share.of > 0 && shareOf(share) >= LEAST_ACCEPTED,
      fails: (share) => shareOf(share) < LEAST_ACCEPTED,
    },
    { wrong: refused, of: meanwhile.length },
    { wrong: unbuffered.unavailable, of: sumOf(Object.values(unbuffered)) },
  );
}

/** The control's drain never gives a row up: those that cannot be drained wait for ever. */
function drained(real: Outage, unthrottled: Outage, mostSeconds: number): Check {
  const seconds = (real.drained.to - real.drained.from) / 1000;
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
  const base = percentile(begunIn(writes, normal, shards), 0.99);
  const slower = (part: Outage): number => percentile(whileDrained(done, part), 0.99) / base;
  return check(
    {
      what: "p99 of the primary's own writes while drained, in normal ones; control: no throttle",
      bar: `< ${MOST_SLOWER}`,
      figure: (times) => times.toFixed(2),
      holds: (times) => times < MOST_SLOWER,
      fails: (times) => times >= MOST_SLOWER,
    },
    slower(real),
    slower(unthrottled),
  );
}

function parked(real: DamagedFate, control: DamagedFate): Check {
  return check(
    {
      what: 'damaged rows parked, appended as they are; other rows parked; control: no parking',
      bar: `${DAMAGED}, 0; 0`,
      figure: (fate) => `${fate.parked}, ${fate.gone}; ${fate.othersParked}`,
      holds: (fate) => fate.parked === DAMAGED && fate.gone + fate.othersParked === 0,
      fails: (fate) => fate.parked < DAMAGED,
    },
    real,
    control,
  );
}

function missingCheck(up: Share, down: Share): Check {
  return check(
    {
      what: 'missing when all groups with copies die; control: the primary is down, too',
      bar: '0',
      figure: shareFigure,
      holds: ({ wrong }) => wrong === 0,
      fails: ({ wrong }) => wrong > 0,
    },
    up,
    down,
  );
}

function whileDrained({ writes, shards }: Outages, part: Outage): readonly Answer[] {
  return begunIn(writes, part.drained, shards);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
