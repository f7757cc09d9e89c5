import type { Random } from './random.ts';

export function randomRowKey(random: Random): string {
  const digits = Array.from({ length: 4 }, () =>
    random
      .integer(0, 2 ** 32 - 1)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}
