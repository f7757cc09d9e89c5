import type { Command } from 'commander';
import { command } from '../cli.ts';
import { writeTo } from '../output/write-out.ts';
import type { Ending } from '../exit-codes.ts';
import { compareCells, type Comparison } from './compare/compare-cells.ts';
import { openInput } from './import/open-input.ts';
import type { InputFormat } from './import/input.ts';
import { untilInterrupted } from './interrupt.ts';
import { showProgress } from './progress.ts';
import type { DefaultRefKey } from './import/ndjson-source.ts';
import { readFormat, readRefKey } from './read-flags.ts';
import { keepHeapSmall } from './small-heap.ts';

interface Flags {
  readonly format?: InputFormat;
  readonly mapping?: string;
  readonly refKey?: DefaultRefKey;
}

export function compareCommand(): Command {
  return command('compare')
    .description(
      'Says which cells of a file, or of a folder that an export made, the datastore lacks or has otherwise.',
    )
    .argument('<input>', 'file of NDJSON or CSV (also .gz, .zst), or folder of an export')
    .option('--format <name>', 'ndjson or csv (default: as the name of the file says)', readFormat)
    .option('--mapping <file>', 'YAML that says what the columns of a CSV are')
    .option('--ref-key <number>', 'of lines of NDJSON without one; line: the number of the line', readRefKey)
    .notes(
      `Stores nothing. Prints a line of NDJSON for each cell that differs, and ends with 8 where there are any; the counts come
last, to standard error.`,
    )
    .examples(
      ['schemaless compare backup', 'what is not as the export says'],
      ['schemaless import backup', 'brings back what is missing'],
    )
    .run<[string], Flags>(async (session, [path], flags) => {
      keepHeapSmall();
      const interrupt = untilInterrupted();
      try {
        const client = await session.connect({ signal: interrupt.afterwards });
        const write = writeTo(process.stdout);
        const { sources } = await openInput(path, {
          format: flags.format,
          mapping: flags.mapping,
          defaultRefKey: flags.refKey,
        });
        const comparison = await compareCells(client, {
          sources,
          found: (difference) => write(`${JSON.stringify(difference)}\n`),
          signal: interrupt.signal,
          progress: await showProgress(process.stderr),
        });
        process.stderr.write(`${JSON.stringify(comparison)}\n`);
        return endingOf(comparison);
      } finally {
        interrupt.end();
      }
    });
}

function endingOf({ complete, missing, other_body, unanswered, unreadable }: Comparison): Ending {
  if (!complete) return 'interrupted';
  if (unanswered > 0) return 'unavailable';
  if (missing + other_body > 0) return 'differs';
  return unreadable > 0 ? 'rejects' : 'ok';
}
