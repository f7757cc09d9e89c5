/** The listener of a signal. */
class Acts extends Set<() => void> {
  handleEvent(): void {
    for (const act of this) act();
  }
}

const waiting = new WeakMap<AbortSignal, Acts>();

/**
 * Acts when a signal is aborted later on. Returns a function that ends the waiting. A signal gets one listener in all,
 * however many calls share it: Node reports more than ten as a leak.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => undefined;
  const acts = waiting.get(signal) ?? new Acts();
  if (acts.size === 0) {
    waiting.set(signal, acts);
    signal.addEventListener('abort', acts);
  }
  acts.add(act);
  return () => {
    if (acts.delete(act) && acts.size === 0) signal.removeEventListener('abort', acts);
  };
}
