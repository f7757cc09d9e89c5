/** The items in their order, at most so many at a time. */
export function slicesOf<T>(items: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, position) =>
    items.slice(position * length, (position + 1) * length),
  );
}
