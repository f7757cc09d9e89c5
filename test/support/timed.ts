/**
 * For tests that say how soon something is there: each is tried up to three times. A machine with much else to do stands
 * still for a moment now and then; what waits for what it should not wait for does so every time.
 */
export const TIMED = { retry: 2 } as const;

/**
 * The same within a test, where the rest of it has to hold each time: does the work up to three times, until it was done
 * as soon as it should be.
 *
 * @param work asserts what has to hold each time, and returns what says whether it was soon enough
 */
export async function onceInTime(work: () => Promise<() => void>): Promise<void> {
  for (let left: number = TIMED.retry; ; left -= 1) {
    const isSoon = await work();
    try {
      return isSoon();
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
