/**
 * Returns `count` results once all are done, or `patienceMs` milliseconds after the first; undefined for unfinished
 * ones. `begin`: starts all of the work, and tells each result once by its position; undefined if it has none. Throws
 * the error with which `begin` rejects.
 */
export async function soonDone<Result>(
  count: number,
  patienceMs: number,
  begin: (tell: (position: number, result: Result | undefined) => void) => Promise<void>,
): Promise<readonly (Result | undefined)[]> {
  const results = Array.from<Result | undefined>({ length: count });
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    let left = count;
    if (left === 0) resolve();
    const tell = (position: number, result: Result | undefined): void => {
      results[position] = result;
      left -= 1;
      if (left === 0) resolve();
      else timer ??= setTimeout(resolve, patienceMs);
    };
    // `begin` tells nothing after it resolves.
    begin(tell).then(() => resolve(), reject);
  });
  clearTimeout(timer);
  return [...results];
}
