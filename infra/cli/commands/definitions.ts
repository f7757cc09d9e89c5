import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Command } from 'commander';
import type { AppliedChange, AppliedOutcome, DeletedPart, DeleteOptions } from '../../../shared/api/definitions.ts';
import type { ApiClient } from '../../../shared/client/api-client.ts';
import { DefinitionsError, type Problem } from '../../../shared/definitions/definitions-error.ts';
import { judgeFolder } from '../../../shared/definitions/load-definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import type { Ending } from '../errors.ts';

export function checkCommand(): Command {
  return command('check')
    .summary('check definitions without starting anything')
    .description(
      'check the definitions in a folder: lists every problem with its file and line, and files that nothing would read; starts nothing and asks no API',
    )
    .argument('<folder>', 'of the datastores, as infra/datastores')
    .option('--project <folder>', 'that contains the functions of triggers', '.')
    .examples(['schemaless check datastores', 'ends with 2 if there are problems'])
    .run<[string], { readonly project: string }>(async (_session, [folder], { project }) => check(folder, project));
}

function check(folder: string, project: string): Ending {
  const { definitions, problems, warnings } = judgeFolder(folder, project);
  for (const warning of warnings) process.stderr.write(`${shown(folder, warning)} (warning)\n`);
  for (const problem of problems) process.stderr.write(`${shown(folder, problem)}\n`);
  if (problems.length > 0) {
    process.stderr.write(`${count(problems.length, 'problem')} in ${folder}\n`);
    return 'usage';
  }
  const { datastores } = definitions;
  const indexes = datastores.reduce((sum, datastore) => sum + datastore.indexes.length, 0);
  const triggers = datastores.reduce((sum, datastore) => sum + datastore.triggers.length, 0);
  const what = [count(datastores.length, 'datastore'), count(indexes, 'index', 'indexes'), count(triggers, 'trigger')];
  process.stdout.write(`${folder} is sound: ${what.join(', ')}\n`);
  return 'ok';
}

/** Uses the format of compilers, so that editors and terminals link to the line. */
function shown(folder: string, { file, line, message }: Problem): string {
  return `${file === folder ? '' : `${folder.replace(/\/+$/u, '')}/`}${file}${line > 0 ? `:${line}` : ''}: ${message}`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Checks and applies a folder of definitions. Throws DefinitionsError, and `unavailable` after an hour. */
export async function applyFolder(
  api: Pick<ApiClient, 'applyDefinitions'>,
  folder: string,
  dryRun = false,
): Promise<AppliedOutcome> {
  const { problems } = judgeFolder(folder);
  if (problems.length > 0) throw new DefinitionsError(folder, problems);
  const files = filesOf(folder);
  const first = await api.applyDefinitions({ files, dry_run: dryRun });
  if (dryRun) return first;
  // A repetition finds the parts that were already created.
  for (let outcome = first, rounds = 1; !outcome.done; rounds += 1) {
    if (rounds === MOST_ROUNDS) throw new SchemalessError('unavailable', 'Not complete yet: apply it again');
    outcome = await api.applyDefinitions({ files });
  }
  return { ...first, done: true };
}

/** Each round takes some twenty seconds. */
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
    .summary('create datastores, indexes and triggers without a restart')
    .description(
      'create the missing parts that a folder defines, and change the others where allowed; parts that it does not name stay. Checks everything before the first change. On a local stack and in dev; elsewhere, deploy',
    )
    .argument('<folder>', 'of the datastores, as infra/datastores')
    .option('--dry-run', 'show the changes, and change nothing')
    .examples(
      ['schemaless apply datastores --dry-run', 'what would be created'],
      ['schemaless apply datastores', 'creates it'],
    )
    .run<[string], { readonly dryRun?: boolean }>(async (session, [folder], { dryRun }) => {
      show(await applyFolder(await session.apiOf('definitions'), folder, dryRun));
    });
}

const DONE = { create: 'made', change: 'changed', none: 'as it was' };
const WOULD = { create: 'would be made', change: 'would be changed', none: 'as it is' };

function show({ changes, warnings, dry_run }: AppliedOutcome): void {
  const outcomes = dry_run ? WOULD : DONE;
  for (const { file, line, message } of warnings) process.stderr.write(`${file}:${line}: ${message} (warning)\n`);
  for (const one of changes) process.stdout.write(`${nameOf(one)}: ${outcomes[one.change]}\n`);
}

function nameOf({ kind, datastore, name, shards }: AppliedChange): string {
  return kind === 'datastore' ? `datastore ${name} (${shards} shards)` : `${kind} ${datastore}/${name}`;
}

interface Output {
  readonly confirm: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

export function deleteCommand(): Command {
  return command('delete')
    .summary('delete an index or a trigger permanently')
    .description(
      'delete an index or a trigger that no deployment defines any more. Refused if data would be lost, unless --force. On a local stack and in dev',
    )
    .examples(...EXAMPLES)
    .addCommand(
      part('index', 'an index; its tables are dropped some minutes later', (api, index, how) =>
        api.deleteIndex({ index, ...how }),
      ),
    )
    .addCommand(
      part('trigger', 'a trigger, with its queues, offsets and parked cells', (api, trigger, how) =>
        api.deleteTrigger({ trigger, ...how }),
      ),
    );
}

const EXAMPLES = [
  ['schemaless delete trigger shop send_order --confirm send_order --dry-run', 'what would be lost'],
  ['schemaless delete index trips day_index --confirm day_index', 'deletes it'],
] as const;

function part(
  kind: 'index' | 'trigger',
  what: string,
  deletion: (api: ApiClient, name: string, how: DeleteOptions) => Promise<DeletedPart>,
): Command {
  return command(kind)
    .description(`delete ${what}`)
    .argument('<datastore>')
    .argument(`<${kind}>`)
    .requiredOption('--confirm <name>', 'its name again')
    .option('--force', 'even if data is lost')
    .option('--dry-run', 'show the losses, and change nothing')
    .examples(...EXAMPLES)
    .run<[string, string], Output>(async (session, [datastore, name], { confirm, force = false, dryRun = false }) => {
      const { lost } = await deletion(await session.apiOf(datastore), name, { confirm, force, dry_run: dryRun });
      const counts = Object.entries(lost ?? {}).filter(([, count]) => count > 0);
      const losing = counts.map(([thing, count]) => `${count} ${thing}`).join(', ');
      const withIt = losing === '' ? '' : ` with ${losing}`;
      process.stdout.write(`${kind} ${datastore}/${name}: ${dryRun ? 'would be deleted' : 'deleted'}${withIt}\n`);
    });
}
