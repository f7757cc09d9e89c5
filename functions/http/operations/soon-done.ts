/**
 * The results of pieces of work that are there when all are, or so long after the first: undefined in the place of
 * those that were not. `count`: how many. `patienceMs`: milliseconds. `begin`: begins all of it, and tells the result
 * of each by its place, once; undefined where it has none. What it rejects with is thrown.
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
    // What is not told by then never will be.
    begin(tell).then(() => resolve(), reject);
  });
  clearTimeout(timer);
  return [...results];
}
