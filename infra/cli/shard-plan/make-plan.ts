import { setTimeout as sleep } from 'node:timers/promises';
import type { Option } from 'commander';
import { MOST_SECONDS } from '../../../shared/api/move-schemas.ts';
import type { MoveOperations } from '../../../shared/contract/move-operations.ts';
import type { PlannedGroup, SizeOperations } from '../../../shared/contract/shard-plan.ts';
import { planAnew, type ShardPlan } from '../../../shared/moves/plan-anew.ts';
import { shardRates } from '../../../shared/moves/shard-rates.ts';
import { badUsage } from '../command-error.ts';
import { repeatableFlag, wholeNumberFlag } from '../flags.ts';
import type { Session } from '../session.ts';

export interface PlanFlags {
  /** Groups that are to be emptied. */
  readonly retire?: readonly string[];
  /** `GROUP=WEIGHT`. */
  readonly weight?: readonly string[];
  /** Per cent. */
  readonly tolerance: number;
  /** Per cent. */
  readonly writes: number;
  /** Seconds. */
  readonly countWrites: number;
  /** Seconds. */
  readonly coolDown: number;
}

export function planFlags(): readonly Option[] {
  return [
    repeatableFlag('--weight <group=number>', 'how much a group is to hold, 1 for those not named; repeatable'),
    wholeNumberFlag('--tolerance <percent>', 'of its part, which a group may be off', 0, 100).default(5),
    wholeNumberFlag('--writes <percent>', 'how much writes count; bytes are the rest', 0, 100).default(20),
    wholeNumberFlag('--count-writes <seconds>', 'so long they are counted; 0: bytes alone', 0, 3600).default(10),
    wholeNumberFlag('--cool-down <seconds>', 'in which no shard moves again', 0, MOST_SECONDS).default(86_400, 'a day'),
  ];
}

export function retireFlag(): Option {
  return repeatableFlag('--retire <group>', 'is to be emptied; repeatable');
}

/**
 * A plan from where the shards are: their sizes, what is written to them for a while, and the moves under way.
 *
 * @throws CommandError for a group that there is not; SchemalessError where a group cannot be asked
 */
export async function makePlan(
  session: Session,
  operations: MoveOperations & SizeOperations,
  flags: PlanFlags,
): Promise<ShardPlan> {
  const begunAt = performance.now();
  const { groups, shards } = await operations.shardSizes();
  const planned = groupsOf(groups, flags);
  if (flags.countWrites > 0) await sleep(flags.countWrites * 1000);
  const heads = flags.countWrites > 0 ? await (await session.connect()).heads() : [];
  const rates = shardRates(shards, heads, (performance.now() - begunAt) / 1000);
  return planAnew(
    operations,
    { groups: planned, shards, rates },
    { tolerance: flags.tolerance / 100, rateWeight: flags.writes / 100, coolDownSeconds: flags.coolDown },
  );
}

/** Every group, as the flags want it. */
export function groupsOf(
  names: readonly string[],
  { retire = [], weight = [] }: Pick<PlanFlags, 'retire' | 'weight'>,
): readonly PlannedGroup[] {
  const weights = new Map(weight.map(readWeight));
  checkNames('--retire', retire, names);
  checkNames('--weight', [...weights.keys()], names);
  if (names.every((group) => retire.includes(group)))
    throw badUsage('--retire', 'a group left that holds shards', names.join(', '));
  return names.map((group) => ({ group, weight: weights.get(group), retire: retire.includes(group) }));
}

function checkNames(flag: string, given: readonly string[], names: readonly string[]): void {
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined) throw badUsage(flag, `one of ${names.join(', ')}`, JSON.stringify(unknown.slice(0, 60)));
}

function readWeight(text: string): readonly [group: string, weight: number] {
  const [, group = '', weight = ''] = /^([\w.-]{1,64})=(\d{1,3}(?:\.\d{1,3})?)$/u.exec(text) ?? [];
  if (Number(weight) > 0) return [group, Number(weight)];
  throw badUsage('--weight', 'GROUP=NUMBER, a number above 0', JSON.stringify(text.slice(0, 60)));
}
