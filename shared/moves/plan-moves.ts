import type { PlacedShard, PlannedGroup, PlannedMove, PlanOptions } from '../contract/shard-plan.ts';
import { invalidField } from '../errors.ts';
import { groupBy } from '../group-by.ts';
import { weightOf } from './group-shares.ts';

const DAY_SECONDS = 86_400;
const TOLERANCE = 0.05;
/** Bytes count for more: they are there tomorrow, too. */
const RATE_WEIGHT = 0.2;
/**
 * No more is moved than that many times what the groups hold too much, and a shard: large shards are not sent round to
 * even out the last of it.
 */
const MOST_MOVED = 1.2;
/** What sums of doubles are off, of parts of one. */
const ROUNDING = 1e-12;

/**
 * Which shards should be elsewhere, so that each group holds what its weight says, about, and moves are few.
 *
 * Groups that retire are emptied first, their largest shards to where most is missing. Then the group that is furthest
 * beyond its tolerance gives, or takes: the smallest shard that brings it back, else the largest that is not too much.
 * So what a move takes is no more than what its group has too much, but where every shard is larger than that. A group
 * ends within its tolerance, or less than its largest shard beyond it, unless what it holds may not move.
 *
 * The same shards and groups give the same plan, in whatever order they come.
 *
 * @throws SchemalessError `invalid_field` where no group is left to hold anything, or a shard's group is not among them
 */
export function planMoves(
  shards: readonly PlacedShard[],
  groups: readonly PlannedGroup[],
  options: PlanOptions = {},
): readonly PlannedMove[] {
  const { tolerance = TOLERANCE, coolDownSeconds = DAY_SECONDS } = options;
  const weighed = weigh(shards, options.rateWeight ?? RATE_WEIGHT);
  const holders = holdersOf(weighed, groups, { tolerance, coolDownSeconds });
  const excess = holders.reduce((sum, holder) => sum + Math.max(0, excessOf(holder)), 0);
  const largest = weighed.reduce((most, { load }) => Math.max(most, load), 0);
  const moves: PlannedMove[] = [];
  let left = MOST_MOVED * excess + largest;
  const take = ({ from, to, one }: Step): void => {
    from.movable.splice(from.movable.indexOf(one), 1);
    from.load -= one.load;
    to.load += one.load;
    to.shards += 1;
    left -= one.load;
    moves.push({ shard: one.shard, from: from.group, to: to.group, bytes: one.bytes });
  };
  const staying = holders.filter(({ retires }) => !retires);
  for (const from of holders.filter(({ retires }) => retires)) {
    for (const one of from.movable.toReversed()) take({ from, to: emptiest(staying), one });
  }
  for (let step = nextStep(staying, left); step; step = nextStep(staying, left)) take(step);
  return moves;
}

/** A shard, and what it weighs: its part of all bytes and all writes. */
interface Weighed extends PlacedShard {
  readonly load: number;
}

/** A group with what it holds. */
interface Holder {
  readonly group: string;
  readonly retires: boolean;
  /** What it is to hold, and how far from that it may be. */
  readonly target: number;
  readonly tolerance: number;
  /** Those that may leave it, the lightest first. */
  readonly movable: Weighed[];
  load: number;
  shards: number;
}

/** A move of one shard. */
interface Step {
  readonly from: Holder;
  readonly to: Holder;
  readonly one: Weighed;
}

/** What a shard is looked for that goes from one group to another. */
interface Wanted extends Omit<Step, 'one'> {
  /** By that much the one that is to be helped is beyond its tolerance. */
  readonly needed: number;
  /** No shard that weighs more. */
  readonly most: number;
}

function weigh(shards: readonly PlacedShard[], rateWeight: number): readonly Weighed[] {
  const bytes = shards.reduce((sum, one) => sum + one.bytes, 0);
  const rates = shards.reduce((sum, one) => sum + one.rate, 0);
  // Where there is nothing of the one, the other is all.
  const ofRates = rates === 0 ? 0 : bytes === 0 ? 1 : rateWeight;
  return shards
    .map((one) => ({
      ...one,
      load: (bytes === 0 ? 0 : ((1 - ofRates) * one.bytes) / bytes) + (rates === 0 ? 0 : (ofRates * one.rate) / rates),
    }))
    .toSorted((one, other) => one.load - other.load || one.shard - other.shard);
}

function holdersOf(
  shards: readonly Weighed[],
  groups: readonly PlannedGroup[],
  { tolerance, coolDownSeconds }: { readonly tolerance: number; readonly coolDownSeconds: number },
): readonly Holder[] {
  const weights = groups.reduce((sum, group) => sum + weightOf(group), 0);
  if (!(weights > 0)) throw invalidField('groups', 'one at least that holds shards', groups.map(nameOf).join(', '));
  const total = shards.reduce((sum, { load }) => sum + load, 0);
  const held = groupBy(shards, ({ group, movingTo }) => movingTo ?? group);
  const unknown = [...held.keys()].find((name) => !groups.some(({ group }) => group === name));
  if (unknown !== undefined) throw invalidField('group', `one of ${groups.map(nameOf).join(', ')}`, unknown);
  return groups
    .map((planned): Holder => {
      const [own, retires] = [held.get(planned.group) ?? [], planned.retire === true];
      const target = (weightOf(planned) / weights) * total;
      const mayMove = ({ movingTo, movedSecondsAgo = Infinity }: Weighed): boolean =>
        movingTo === undefined && (retires || movedSecondsAgo >= coolDownSeconds);
      return {
        group: planned.group,
        retires,
        target,
        tolerance: tolerance * target,
        movable: own.filter(mayMove),
        load: own.reduce((sum, { load }) => sum + load, 0),
        shards: own.length,
      };
    })
    .toSorted((one, other) => (one.group < other.group ? -1 : 1));
}

function nameOf({ group }: PlannedGroup): string {
  return group;
}

/** What it holds too much; below 0 what it lacks. */
function excessOf({ load, target }: Holder): number {
  return load - target;
}

/** How far it is beyond its tolerance, on either side. */
function beyond(holder: Holder, change = 0): number {
  return Math.abs(excessOf(holder) + change) - holder.tolerance;
}

/** Where most is missing; of equals the one with the fewest shards. */
function emptiest(holders: readonly Holder[]): Holder {
  return holders.reduce((best, one) => {
    const difference = excessOf(one) - excessOf(best);
    return difference < 0 || (difference === 0 && one.shards < best.shards) ? one : best;
  });
}

/** The next move, of the group that is furthest beyond its tolerance and can be helped; undefined where none can. */
function nextStep(holders: readonly Holder[], most: number): Step | undefined {
  const wrong = holders
    .filter((holder) => beyond(holder) > ROUNDING)
    .toSorted((one, other) => beyond(other) - beyond(one));
  const fullest = holders.toSorted((one, other) => excessOf(other) - excessOf(one));
  for (const holder of wrong) {
    const pairs =
      excessOf(holder) > 0 ? [{ from: holder, to: emptiest(holders) }] : fullest.map((from) => ({ from, to: holder }));
    for (const { from, to } of pairs) {
      const one = from === to ? undefined : bestShard({ from, to, needed: beyond(holder), most });
      if (one) return { from, to, one };
    }
  }
  return undefined;
}

/**
 * The shard that does it with the least: the lightest that is enough and leaves neither group on its other side, else
 * the heaviest that leaves neither there, else the lightest that leaves both better off than the one was.
 */
function bestShard({ from, to, needed, most }: Wanted): Weighed | undefined {
  const [excess, lack] = [excessOf(from), -excessOf(to)];
  const [fitting, improving] = [Math.min(excess, lack) + ROUNDING, excess + lack];
  const some = from.movable.filter(({ load }) => load > 0 && load <= most);
  const heaviest = some.findLast(({ load }) => load <= fitting)?.load;
  // Of equals the first, whichever it is.
  return (
    some.find(({ load }) => load >= needed && load <= fitting) ??
    some.find(({ load }) => load === heaviest) ??
    some.find(({ load }) => load < improving && Math.max(beyond(from, -load), beyond(to, load)) < needed)
  );
}
