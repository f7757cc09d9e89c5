import type { Command } from 'commander';
import type { IndexStatus } from '../../../shared/api/indexes.ts';
import { command } from '../cli.ts';
import type { Ending } from '../exit-codes.ts';
import type { Column } from '../output/output.ts';

export function verifyIndex(): Command {
  return command('verify-index')
    .description(
      'says what is known of an index, or of all: state, progress, how far the repair is behind, mistyped fields',
    )
    .argument('[index]', 'its name (default: all)')
    .examples(
      ['schemaless verify-index rider_index', 'one index'],
      ['until schemaless verify-index rider_index; do sleep 5; done', 'waits for a build'],
    )
    .notes(`Ends with 5 while an index is being built. Entries are compared with what the cells say by the repair, which follows the logs
(LAG says how far behind it is), and whole by npm run verify-index -- NAME --datastore DATASTORE in the repository,
which asks the databases of a local stack, and mends with --repair.`)
    .run<[name: string | undefined]>(async (session, [name]) => {
      const client = await session.connect();
      const statuses = name === undefined ? (await client.listIndexes()).indexes : [await client.getIndex(name)];
      if (name === undefined) await session.output.list<IndexStatus>([statuses], COLUMNS);
      else for (const status of statuses) await session.output.record(status);
      const ending: Ending = statuses.some(({ state }) => state === 'building') ? 'unavailable' : 'ok';
      if (session.output.format === 'table')
        session.note(
          `Compared whole by: npm run verify-index -- ${name ?? 'NAME'} --datastore ${client.name} (in the repository, on a local stack)`,
        );
      return ending;
    });
}

const COLUMNS: readonly Column<IndexStatus>[] = [
  { header: 'INDEX', value: ({ index }) => index },
  { header: 'STATE', value: ({ state }) => state },
  { header: 'PROGRESS', value: ({ progress }) => progress && `${progress.done} of ${progress.total} cells` },
  { header: 'LAG', value: ({ lag }) => lag },
  { header: 'LARGEST SHARE', value: ({ largest_share }) => largest_share?.toFixed(4), wide: true },
  {
    header: 'MISTYPED',
    value: ({ mistyped }) => mistyped.map(({ field, rows }) => `${field}: ${rows} rows`).join(', ') || 'none',
  },
  { header: 'FIELDS', value: ({ fields }) => fields.map(({ field, type }) => `${field} ${type}`).join(', ') },
];
