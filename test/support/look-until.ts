import { comes, type Patience } from './until.ts';

/** Looks again and again until what is seen is enough, or for as long as there is patience. Returns what it saw last. */
export async function lookUntil<Seen>(
  look: () => Promise<Seen>,
  isEnough: (seen: Seen) => boolean,
  patience: Patience,
): Promise<Seen> {
  const last: Seen[] = [];
  await comes(async () => {
    last[0] = await look();
    return isEnough(last[0]);
  }, patience);
  return last[0] as Seen;
}
