/**
 * The results of work that is done when all of it is, or so long after the first: undefined in the place of what was
 * not.
 *
 * @param works that do not fail
 * @param patienceMs milliseconds
 */
export async function soonDone<Result>(
  works: readonly Promise<Result>[],
  patienceMs: number,
): Promise<readonly (Result | undefined)[]> {
  const results: (Result | undefined)[] = works.map(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    let left = works.length;
    if (left === 0) resolve();
    for (const [position, work] of works.entries()) {
      work.then((result) => {
        results[position] = result;
        left -= 1;
        if (left === 0) resolve();
        else timer ??= setTimeout(resolve, patienceMs);
      }, reject);
    }
  });
  clearTimeout(timer);
  return [...results];
}
