const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `500ms`, `30s`, `10m`, `2h` or `1d` in milliseconds; undefined for anything else. */
export function parseDuration(value: unknown): number | undefined {
  const [, count, unit] = typeof value === 'string' ? (/^(\d{1,9})(ms|s|m|h|d)$/u.exec(value) ?? []) : [];
  return count === undefined ? undefined : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
