import { randomUUID } from 'node:crypto';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { timesOf, type Section } from './figure.ts';

export const BURST = 'A burst, as its callers see it';
const CALLERS = 40;

/**
 * How long callers wait who come all at once, before and after instances are there for all of them.
 *
 * @param client joins no reads
 */
export async function measureBurst(client: SchemalessClient): Promise<Section> {
  const burst = (): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const start = performance.now();
        await client.getLatest({ row_key: randomUUID(), column_name: 'BASE' });
        return performance.now() - start;
      }),
    );
  const [first, second] = [await burst(), await burst()];
  return {
    title: BURST,
    how: `${CALLERS} reads at once, then as many again. Median, p99 and longest. The first open their connections, and on AWS wait for new instances of the function to start; what is refused for being too much is repeated, and counts as one.`,
    figures: [
      { what: 'first', figure: timesOf(first) },
      { what: 'then', figure: timesOf(second) },
    ],
  };
}
