import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Command } from 'commander';
import type { ApiClient } from '../../../shared/client/api-client.ts';
import type { AppliedChange, AppliedOutcome } from '../../../shared/api/definitions.ts';
import { DefinitionsError } from '../../../shared/definitions/definitions-error.ts';
import { judgeFolder } from '../../../shared/definitions/load-definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';

interface ApplyOptions {
  /** Changes nothing. @default false */
  readonly dryRun?: boolean;
}

/** Judges and applies a folder of definitions. Throws DefinitionsError, and `unavailable` after an hour. */
export async function applyFolder(
  api: Pick<ApiClient, 'applyDefinitions'>,
  folder: string,
  { dryRun = false }: ApplyOptions = {},
): Promise<AppliedOutcome> {
  const { problems } = judgeFolder(folder);
  if (problems.length > 0) throw new DefinitionsError(folder, problems);
  const files = filesOf(folder);
  const first = await api.applyDefinitions({ files, dry_run: dryRun });
  if (dryRun) return first;
  // What a repetition finds is there by then.
  for (let outcome = first, rounds = 1; !outcome.done; rounds += 1) {
    if (rounds === MOST_ROUNDS) throw new SchemalessError('unavailable', 'Not all is made yet: apply it again');
    outcome = await api.applyDefinitions({ files });
  }
  return { ...first, done: true };
}

/** Of some twenty seconds each. */
const MOST_ROUNDS = 180;

function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    names.map((file) => [relative(folder, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  );
}

export function applyCommand(): Command {
  return command('apply')
    .summary('make datastores, indexes and triggers without a restart')
    .description(
      'Makes what the definitions in a folder say and what is not there, and changes what may be changed; what they do not name stays. Everything is judged before anything is done. On a local stack and in dev; elsewhere this goes by deploy.',
    )
    .argument('<folder>', 'of the datastores, as infra/datastores')
    .option('--dry-run', 'say what would be done, and change nothing')
    .examples(
      ['schemaless apply datastores --dry-run', 'what would be made'],
      ['schemaless apply datastores', 'makes it'],
    )
    .run<[string], ApplyOptions>(async (session, [folder], { dryRun = false }) => {
      show(await applyFolder(await session.apiOf('definitions'), folder, { dryRun }));
    });
}

const DONE = { create: 'made', change: 'changed', none: 'as it was' };
const WOULD = { create: 'would be made', change: 'would be changed', none: 'as it is' };

function show({ changes, warnings, dry_run }: AppliedOutcome): void {
  const said = dry_run ? WOULD : DONE;
  for (const { file, line, message } of warnings) process.stderr.write(`${file}:${line}: ${message} (warning)\n`);
  for (const one of changes) process.stdout.write(`${nameOf(one)}: ${said[one.change]}\n`);
}

function nameOf({ kind, datastore, name, shards }: AppliedChange): string {
  return kind === 'datastore' ? `datastore ${name} (${shards} shards)` : `${kind} ${datastore}/${name}`;
}
