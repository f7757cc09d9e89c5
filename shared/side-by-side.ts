const SIDE_BY_SIDE = 4;

/**
 * Does the work for each item, a few at a time. Begins no other item after an error, and throws it once those under way
 * have ended. `atOnce`: @default 4.
 */
export async function sideBySide<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  atOnce = SIDE_BY_SIDE,
): Promise<void> {
  const queue = [...items];
  const ends = await Promise.allSettled(
    Array.from({ length: atOnce }, async () => {
      try {
        for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
      } finally {
        queue.length = 0;
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
