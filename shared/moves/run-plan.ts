import type { MoveOperations, MoveStatus } from '../contract/move-operations.ts';
import type { PlannedMove } from '../contract/shard-plan.ts';
import { SchemalessError } from '../errors.ts';
import { pauseFor } from '../pause-for.ts';
import { hasEnded, isOver, whyNot, type PlanItem } from './plan-item.ts';
import { planProgress, type PlanProgress } from './plan-progress.ts';

export interface RunPlanOptions {
  /** So long a copy is kept after its switch, for the way back; then it is dropped. @default 3600, an hour */
  readonly completeAfterSeconds?: number | undefined;
  /** Moves that are begun while they have to wait for others: each copies once its groups are free. @default 2 */
  readonly ahead?: number | undefined;
  /** @default 2000 */
  readonly pollMs?: number | undefined;
  /** Ends the run; the moves that it began go on by themselves. */
  readonly signal: AbortSignal;
  /** Is told how far it is, at each look. @default nobody is */
  readonly tell?: ((progress: PlanProgress) => void) | undefined;
  /** Is told what a move stumbled over, once for each. @default nobody is */
  readonly trouble?: ((shard: number, message: string) => void) | undefined;
}

/** What became of a plan. */
export interface PlanReport extends PlanProgress {
  /** Shards whose moves were refused, ended by somebody, or taken back: they are where they were. */
  readonly not_moved: readonly { readonly shard: number; readonly why: string }[];
  /** All of it was done, but for those. */
  readonly complete: boolean;
}

type Moving = Pick<MoveOperations, 'moves' | 'move' | 'createMove'>;

const POLL_MS = 2000;
const AHEAD = 2;
const HOUR_SECONDS = 3600;

/**
 * Runs a plan: begins its moves, each of which switches by itself, and watches them until all shards are where they
 * should be. No group copies two shards at a time, which the moves themselves see to: one that has to wait does. So no
 * more are begun than a few that wait, and who ends the run leaves little behind. A plan that was ended is gone on with
 * by making a new one: what is under way counts where it goes.
 *
 * While the API is away it asks on, as the moves go on without it.
 *
 * @throws SchemalessError what the API refuses for another reason than the state of a move
 */
export async function runPlan(
  operations: Moving,
  plan: readonly PlannedMove[],
  options: RunPlanOptions,
): Promise<PlanReport> {
  const { signal, pollMs = POLL_MS, tell = () => undefined } = options;
  const items = plan.map((planned): PlanItem => ({ planned }));
  const begunAt = performance.now();
  const progress = (): PlanProgress => planProgress(items, (performance.now() - begunAt) / 1000);
  const troubled = new Map<number, string>();
  for (;;) {
    await unlessAway(signal, async () => {
      const underWay = await look(operations, items);
      await begin({ operations, items, underWay }, options);
    });
    for (const { planned, status } of items) {
      const message = status?.last_error ?? undefined;
      if (message === undefined || troubled.get(planned.shard) === message) continue;
      troubled.set(planned.shard, message);
      options.trouble?.(planned.shard, message);
    }
    tell(progress());
    if (signal.aborted || items.every(isOver)) break;
    await pauseFor(pollMs, signal);
  }
  return {
    ...progress(),
    not_moved: items.flatMap((item) => {
      const why = whyNot(item);
      return why === undefined ? [] : [{ shard: item.planned.shard, why }];
    }),
    complete: items.every(isOver),
  };
}

/** Brings what is known of the moves to what is; gives all that are under way, those of others too. */
async function look(operations: Moving, items: readonly PlanItem[]): Promise<MoveStatus[]> {
  const underWay = [...(await operations.moves())];
  const byShard = new Map(underWay.map((status) => [status.shard, status]));
  for (const item of items) {
    const { shard } = item.planned;
    if (!item.status || item.refused !== undefined || hasEnded(item.status)) continue;
    // What is not under way any more has ended since.
    item.status = byShard.get(shard) ?? (await operations.move(shard));
  }
  return underWay;
}

interface Beginning {
  readonly operations: Moving;
  readonly items: readonly PlanItem[];
  /** Grows by what is begun. */
  readonly underWay: MoveStatus[];
}

/** Begins what can copy at once, and a few that wait. */
async function begin({ operations, items, underWay }: Beginning, options: RunPlanOptions): Promise<void> {
  const { ahead = AHEAD, completeAfterSeconds = HOUR_SECONDS, signal } = options;
  const left = items.filter(({ status, refused }) => !status && refused === undefined);
  while (!signal.aborted) {
    const next = nextOf(left, underWay, ahead);
    if (!next) return;
    left.splice(left.indexOf(next), 1);
    const { shard, to } = next.planned;
    try {
      const wish = { switch: true, complete_after_seconds: completeAfterSeconds };
      next.status = await operations.createMove(shard, to, wish);
      underWay.push(next.status);
    } catch (error) {
      if (!(error instanceof SchemalessError) || error.code !== 'move_refused') throw error;
      next.refused = error.message;
    }
  }
}

/** The first whose groups copy nothing; else the first of all, unless enough of them wait. */
function nextOf(left: readonly PlanItem[], underWay: readonly MoveStatus[], ahead: number): PlanItem | undefined {
  const copying = underWay.filter(({ step }) => step === 'waiting' || step === 'copying');
  const used = new Set(copying.flatMap(({ from, to }) => [from, to]));
  const free = left.find(({ planned: { from, to } }) => !used.has(from) && !used.has(to));
  if (free) return free;
  return copying.filter(({ step }) => step === 'waiting').length < ahead ? left[0] : undefined;
}

/** Where the API cannot answer now, it is asked again with the next look. */
async function unlessAway(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof SchemalessError) || error.retry !== 'later') throw error;
  }
}
