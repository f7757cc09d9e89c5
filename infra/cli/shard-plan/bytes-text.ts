const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** For people: `1.2 GB`, by thousands. */
export function bytesText(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  // What would be rounded to a thousand is one of the next.
  while (amount >= 999.95 && unit < UNITS.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}
