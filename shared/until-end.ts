/** Returns a signal that follows `outer`, or `end`, which removes the listener on `outer`. */
export function untilEnd(outer: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
  const inner = new AbortController();
  const end = (): void => {
    outer.removeEventListener('abort', end);
    inner.abort();
  };
  if (outer.aborted) inner.abort();
  else outer.addEventListener('abort', end);
  return { signal: inner.signal, end };
}
