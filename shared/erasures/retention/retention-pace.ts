import type { RetentionRule } from '../../definitions/definitions.ts';
import type { RetentionPlace } from './retention-place.ts';

/** How often it is looked, and how hard. */
export interface RetentionSettings {
  /** Between looks at what was written since, for columns that have much to erase. @default a minute */
  readonly roundMs?: number;
  /** Between looks for all that there is to erase: so long a body may stay beyond its retention. @default a day */
  readonly wholeMs?: number;
  /** Pause after work, as a part of how long it took. @default 1: half of the time */
  readonly rest?: number;
}

export const ROUND_MS = 60_000;
export const WHOLE_MS = 86_400_000;

/** Between looks for what has grown old: cells are erased a tenth of their time after it at the latest, or a day. */
export function agedEveryMs(keepForMs: number, { roundMs = ROUND_MS, wholeMs = WHOLE_MS }: RetentionSettings): number {
  return Math.min(wholeMs, Math.max(roundMs, keepForMs / 10));
}

export function keepTimes(rules: readonly RetentionRule[]): readonly number[] {
  return [...new Set(rules.flatMap(({ keepForMs }) => keepForMs ?? []))];
}

/** Returns by how many seconds retention's most overdue poll is late; undefined before the first. */
export function behindSeconds(
  rules: readonly RetentionRule[],
  places: readonly RetentionPlace[],
  settings: RetentionSettings = {},
): number | undefined {
  if (places.length === 0) return undefined;
  const now = Date.now();
  const byVersions = rules.some(({ keepVersions }) => keepVersions !== undefined);
  const lateMs = places.flatMap(({ all, aged }) => [
    ...(byVersions ? [now - all.at - (settings.wholeMs ?? WHOLE_MS)] : []),
    ...keepTimes(rules).flatMap((ms) => (aged[ms] ? [now - aged[ms].at - agedEveryMs(ms, settings)] : [])),
  ]);
  return Math.round(Math.max(0, ...lateMs) / 1000);
}
