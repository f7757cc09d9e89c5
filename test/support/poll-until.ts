import { comes, type Patience } from './until.ts';

/** Polls until the result is enough, or patience ends. Returns the last result. */
export async function pollUntil<Seen>(
  poll: () => Promise<Seen>,
  isEnough: (seen: Seen) => boolean,
  patience: Patience,
): Promise<Seen> {
  const last: Seen[] = [];
  await comes(async () => {
    last[0] = await poll();
    return isEnough(last[0]);
  }, patience);
  return last[0] as Seen;
}
