/** Divides items, in order, into slices of at most `length`. */
export function slicesOf<T>(items: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, position) =>
    items.slice(position * length, (position + 1) * length),
  );
}
