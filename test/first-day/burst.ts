import { randomUUID } from 'node:crypto';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { timesOf, type Section } from './figure.ts';

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
    title: 'A burst, as its callers see it',
    how: `${CALLERS} reads at once, then as many again: on AWS the first wait for new instances of the function to start.`,
    figures: [
      { what: 'first', figure: timesOf(first) },
      { what: 'then', figure: timesOf(second) },
    ],
  };
}
