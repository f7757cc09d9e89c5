import { Command, InvalidArgumentError } from 'commander';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { importCells, type ImportReport } from './import/import-cells.ts';
import { newJournal, readJournal, type Journal } from './import/journal.ts';
import type { DefaultRefKey } from './import/ndjson-source.ts';
import { openInput, PIPE, type InputFormat } from './import/open-input.ts';
import { untilInterrupted } from './interrupt.ts';
import { showProgress } from './progress.ts';

/** How a command reaches a datastore. */
export interface CommandClient {
  readonly url: string;
  readonly datastore: string;
  readonly client: SchemalessClient;
}

/** Makes the client that a command asks, by the flags that all commands have. */
export type ClientOf = (command: Command, signal: AbortSignal) => CommandClient | Promise<CommandClient>;

interface Flags {
  readonly format?: InputFormat;
  readonly mapping?: string;
  readonly refKey?: DefaultRefKey;
  readonly journal?: string;
  readonly rejects?: string;
  readonly maxRejects: number;
  readonly concurrency?: number;
  readonly restart?: true;
}

/** Ended with rejects: all else is stored. */
const EXIT_REJECTS = 3;
const EXIT_INTERRUPTED = 130;

/** `import FILE`: cells of a file into the datastore. */
export function importCommand(clientOf: ClientOf): Command {
  return new Command('import')
    .description('Stores the cells of a file, of a folder that an export made, or of standard input (-).')
    .argument('<input>', 'file of NDJSON or CSV (also .gz, .zst), folder of an export, or -')
    .option('--format <name>', 'ndjson or csv (default: as the name of the file says)', readFormat)
    .option('--mapping <file>', 'YAML that says what the columns of a CSV are')
    .option('--ref-key <number>', 'of lines of NDJSON without one; line: the number of the line', readRefKey)
    .option('--journal <file>', 'where it is kept how far it came (default: INPUT.import-journal)')
    .option('--rejects <file>', 'what was not stored, and why (default: INPUT.rejects.ndjson)')
    .option('--max-rejects <count>', 'more of them end the import', readCount, 1000)
    .option('--concurrency <count>', 'batches under way at once (default: 8)', readCount)
    .option('--restart', 'from the start again, whatever the journal says')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, flags: Flags, command: Command) => {
      const interrupt = untilInterrupted();
      try {
        const report = await run(path, flags, await clientOf(command, interrupt.afterwards), interrupt.signal);
        process.stdout.write(`${JSON.stringify(report)}\n`);
        if (!report.complete) process.exitCode = EXIT_INTERRUPTED;
        else if (report.counts.rejected > 0) process.exitCode = EXIT_REJECTS;
      } finally {
        interrupt.end();
      }
    });
}

const EXAMPLES = `
Killed and called again it goes on where it was; each cell is there once. Exit codes: 0 all stored, 1 it failed,
3 all stored but the rejects, 130 interrupted.

Examples:
  import readings.ndjson.gz
  import trips.csv --mapping trips.import.yaml
  export ... | jq -c ... | import - --ref-key line
`;

async function run(
  path: string,
  flags: Flags,
  { url, datastore, client }: CommandClient,
  signal: AbortSignal,
): Promise<ImportReport> {
  const { sources, fingerprints, reading } = await openInput(path, {
    format: flags.format,
    mapping: flags.mapping,
    defaultRefKey: flags.refKey,
  });
  const base = path === PIPE ? 'stdin' : path.replace(/\/+$/u, '');
  const journalPath = path === PIPE ? undefined : (flags.journal ?? `${base}.import-journal`);
  const subject = { url, datastore, inputs: fingerprints, reading };
  let journal: Journal | undefined;
  if (journalPath !== undefined && !flags.restart) journal = await readJournal(journalPath, subject);
  return importCells(client, {
    sources,
    journal: journal ?? newJournal(subject),
    journalPath,
    rejectsPath: flags.rejects ?? `${base}.rejects.ndjson`,
    maxRejects: flags.maxRejects,
    concurrency: flags.concurrency,
    signal,
    progress: showProgress(process.stderr),
  });
}

function readFormat(value: string): InputFormat {
  if (value === 'ndjson' || value === 'csv') return value;
  throw new InvalidArgumentError(`Wanted ndjson or csv, got ${JSON.stringify(value)}.`);
}

function readRefKey(value: string): DefaultRefKey {
  return value === 'line' ? 'line' : readCount(value);
}

export function readCount(value: string): number {
  if (/^\d{1,15}$/u.test(value)) return Number(value);
  throw new InvalidArgumentError(`Wanted a whole number, got ${JSON.stringify(value)}.`);
}

/** A client by `--url` and `--datastore`. */
export const byFlags: ClientOf = (command, signal) => {
  const { url, datastore } = command.optsWithGlobals<{ url: string; datastore: string }>();
  return { url, datastore, client: schemalessClient({ url, datastore, signal }) };
};
