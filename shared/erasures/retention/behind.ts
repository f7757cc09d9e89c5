import type { RetentionRule } from '../../definitions/definitions.ts';
import { agedEveryMs, keepTimes, WHOLE_MS, type RetentionSettings } from './retain-shard.ts';
import type { RetentionPlace } from './retention-place.ts';

/**
 * How long the look of any shard for what is out of its retention is overdue, in seconds: 0 where none is. Undefined where
 * nobody has looked yet.
 */
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
