import type { Command } from 'commander';
import { command } from '../cli.ts';
import { wholeNumberFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';
import { pingGroups, type Pinged } from '../ping-groups.ts';

export function ping(): Command {
  return command('ping')
    .description('measures how long reads take, for each group and role')
    .addOption(
      wholeNumberFlag('-n, --count <reads>', 'of each group and role, one after the other', 1, 100_000).default(20),
    )
    .examples(['schemaless ping', 'twenty reads of each'], ['schemaless ping -n 1000 --format json', 'for a figure'])
    .notes(`What is measured is a read of a cell that is not there, of a row that would lie on that group, from here and back: this
program, the network, the API, its function, and one statement on the database. A first read of each is not counted.
SERVED BY says who answered: where there is no reader, or it cannot be reached, the writer does.`)
    .run<[], { readonly count: number }>(async ({ output, connect, note }, _none, { count }) => {
      const client = await connect({ attempts: 1 });
      let failed = 0;
      const pages = async function* pages(): AsyncGenerator<readonly Pinged[]> {
        for await (const one of pingGroups(client, count)) {
          failed += one.failed;
          yield [one];
        }
      };
      await output.list(pages(), COLUMNS);
      if (output.format === 'table') note('reads of cells that are not there, one after the other, from here and back');
      return failed > 0 ? 'unavailable' : 'ok';
    });
}

const COLUMNS: readonly Column<Pinged>[] = [
  { header: 'GROUP', value: ({ group }) => group, width: 10 },
  { header: 'ROLE', value: ({ role }) => role },
  { header: 'READS', value: ({ reads }) => reads, width: 6 },
  { header: 'FAILED', value: ({ failed }) => failed },
  { header: 'P50', value: ({ p50_ms }) => milliseconds(p50_ms), width: 9 },
  { header: 'P99', value: ({ p99_ms }) => milliseconds(p99_ms), width: 9 },
  { header: 'SERVED BY', value: ({ served_by }) => served_by.join(', ') },
  { header: 'ERROR', value: ({ error }) => error ?? '' },
];

function milliseconds(value: number | null): string | null {
  return value === null ? null : `${value.toFixed(1)} ms`;
}
