import type { PlannedMove } from '../../../shared/contract/shard-plan.ts';
import type { GroupShare } from '../../../shared/moves/group-shares.ts';
import type { ShardPlan } from '../../../shared/moves/plan-anew.ts';
import type { Column } from '../output/output.ts';
import type { Session } from '../session.ts';
import { bytesText } from './bytes-text.ts';

/** The moves of a plan as results, and, for people, what it makes of the groups. */
export async function printPlan({ output, note }: Session, plan: ShardPlan): Promise<void> {
  await output.list<PlannedMove>([plan.moves], COLUMNS);
  if (output.format === 'table' || output.format === 'wide') for (const line of planLines(plan)) note(line);
}

/** What a plan makes of the groups, a line each, and what it moves. */
export function planLines({ moves, groups, under_way }: ShardPlan): readonly string[] {
  const width = Math.max(...groups.map(({ group }) => group.length));
  const lines = groups.map((one) => `${one.group.padEnd(width)}  ${heldText(one)}`);
  const others = under_way === 0 ? '' : `; ${counted(under_way, 'move')} under way, counted where it ends`;
  const bytes = moves.reduce((sum, one) => sum + one.bytes, 0);
  const some = `${counted(moves.length, 'shard')} to move, ${bytesText(bytes)}`;
  const wanted = moves.length === 0 ? 'nothing to move' : some;
  return [...lines, `${wanted}${others}`];
}

function heldText(one: GroupShare): string {
  const before = `${counted(one.shards, 'shard')}, ${bytesText(one.bytes)}, ${percent(one.share)}`;
  const after = `${one.shards_after}, ${bytesText(one.bytes_after)}, ${percent(one.share_after)}`;
  return `${before}; then ${after} of ${percent(one.wanted_share)}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function counted(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? '' : 's'}`;
}

const COLUMNS: readonly Column<PlannedMove>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  { header: 'FROM', value: ({ from }) => from },
  { header: 'TO', value: ({ to }) => to },
  { header: 'SIZE', value: ({ bytes }) => bytesText(bytes) },
];
