import { existsSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { FilesError } from '../../../shared/files/files-error.ts';
import { command } from '../cli.ts';
import { inputFlags, keepHeapSmall, readCount, type InputFlags } from './files-command.ts';
import { importCells, type ImportReport } from './import/import-cells.ts';
import { newJournal, readJournal, type Counts, type Journal } from './import/journal.ts';
import { openInput, PIPE } from './import/open-input.ts';
import { showProgress } from './progress.ts';

interface Flags extends InputFlags {
  readonly journal?: string;
  readonly rejects?: string;
  readonly maxRejects: number;
  readonly concurrency?: number;
  readonly restart?: true;
  readonly times?: true;
  readonly newTimes?: true;
}

export function importCommand(): Command {
  return command('import')
    .description('store the cells of a file, of an export, or of standard input (-)')
    .argument('<input>', 'file of NDJSON or CSV (also .gz, .zst), folder of an export, or -')
    .addOptions(inputFlags())
    .option('--journal <file>', 'the file that records its progress (default: INPUT.import-journal)')
    .option('--rejects <file>', 'the file for rejected lines, with reasons (default: INPUT.rejects.ndjson)')
    .option('--max-rejects <count>', 'end the import after more rejects', readCount, 1000)
    .option('--concurrency <count>', 'parallel batches, 1 to 64 (default: 8)', readConcurrency)
    .option('--restart', 'start again, and ignore the journal')
    .addOption(
      new Option('--times', 'keep the times of the input (default: only of an export); for operators').conflicts(
        'newTimes',
      ),
    )
    .option('--new-times', 'store all cells with the current time, also those of an export')
    .addHelpText('after', EXAMPLES)
    .run<[string], Flags>(async (session, [path], flags) => {
      keepHeapSmall();
      const { signal, afterwards } = session.untilInterrupted();
      try {
        const { url } = await session.target();
        const client = await session.connect({ signal: afterwards });
        const report = await run(path, flags, { url, client }, signal);
        process.stdout.write(`${JSON.stringify(report)}\n`);
        if (report.already) session.note(alreadyDone(report.already, report.rejects));
        if (!report.complete) return 'interrupted';
        return (report.already ?? report.counts).rejected > 0 ? 'rejects' : 'ok';
      } finally {
        // An interrupted one would keep the process open.
        if (path === PIPE) process.stdin.destroy();
      }
    });
}

function alreadyDone({ stored, stored_before, buffered, rejected }: Counts, rejects: string | undefined): string {
  const there = stored + stored_before + buffered;
  const file = rejects === undefined ? 'whose file is gone' : `which are in ${rejects}`;
  const rest = rejected === 0 ? '' : `, but for ${rejected} that were rejected, ${file}`;
  return `its journal says that all of it was imported before, ${there} cells${rest}: nothing was done; --restart puts each cell again, which changes none`;
}

const EXAMPLES = `
A repeated command continues after a kill, and stores each cell once.

Examples:
  schemaless import readings.ndjson.gz
  schemaless import trips.csv --mapping trips.import.yaml
  jq -c '{row_key: .id, column_name: "BASE", body: .}' trips.json | schemaless import - --ref-key 1
`;

async function run(
  path: string,
  flags: Flags,
  { url, client }: { readonly url: string; readonly client: SchemalessClient },
  signal: AbortSignal,
): Promise<ImportReport> {
  const { sources, fingerprints, areTimesKept, reading } = await openInput(path, {
    format: flags.format,
    mapping: flags.mapping,
    defaultRefKey: flags.refKey,
    times: flags.times ? 'kept' : flags.newTimes ? 'new' : undefined,
  });
  // On Windows a folder may end with the other slash.
  const base = path === PIPE ? 'stdin' : path.replace(sep === '/' ? /\/+$/u : /[\\/]+$/u, '');
  const journalPath = path === PIPE ? undefined : (flags.journal ?? `${base}.import-journal`);
  const rejectsPath = flags.rejects ?? (path === PIPE ? freeName(base) : `${base}.rejects.ndjson`);
  checkPaths([path, journalPath, rejectsPath]);
  const subject = { url, datastore: client.name, inputs: fingerprints, reading };
  let journal: Journal | undefined;
  if (journalPath !== undefined && !flags.restart) journal = await readJournal(journalPath, subject);
  return importCells(client, {
    sources,
    areTimesKept,
    journal: journal ?? newJournal(subject),
    journalPath,
    rejectsPath,
    maxRejects: flags.maxRejects,
    concurrency: flags.concurrency,
    signal,
    progress: await showProgress(process.stderr),
  });
}

/** Imports of pipes have no journal that would link them to their rejects. */
function freeName(base: string): string {
  let name = `${base}.rejects.ndjson`;
  for (let position = 2; existsSync(name); position += 1) name = `${base}.rejects.${position}.ndjson`;
  return name;
}

/** Refuses to write over an input. */
function checkPaths(paths: readonly (string | undefined)[]): void {
  const used = paths.flatMap((path) => (path === undefined || path === PIPE ? [] : [resolve(path)]));
  const twice = used.find((path, position) => used.indexOf(path) !== position);
  if (twice !== undefined)
    throw new FilesError('bad_option', `input, journal and rejects: wanted a file each, got ${twice} for two of them`);
}

function readConcurrency(value: string): number {
  const count = readCount(value);
  if (count >= 1 && count <= 64) return count;
  throw new InvalidArgumentError(`Wanted 1 to 64, got ${value}.`);
}
