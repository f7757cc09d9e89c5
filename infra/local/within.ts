/** Returns undefined after the time limit; the work continues. */
export function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs).unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
