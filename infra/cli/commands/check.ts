import type { Command } from 'commander';
import type { Problem } from '../../../shared/definitions/definitions-error.ts';
import { judgeFolder } from '../../../shared/definitions/load-definitions.ts';
import { command } from '../cli.ts';
import type { Ending } from '../exit-codes.ts';

export function checkCommand(): Command {
  return command('check')
    .summary('judge definitions without starting anything')
    .description(
      'Judges the definitions in a folder: every problem at once, with its file and line, and what lies where nothing would read it. Starts nothing and asks nobody.',
    )
    .argument('<folder>', 'of the datastores, as infra/datastores')
    .option('--project <folder>', 'that the functions of triggers are given from', '.')
    .examples(['schemaless check datastores', 'ends with 2 where there are problems'])
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

/** As compilers write it, so that editors and terminals find the place. */
function shown(folder: string, { file, line, message }: Problem): string {
  return `${file === folder ? '' : `${folder.replace(/\/+$/u, '')}/`}${file}${line > 0 ? `:${line}` : ''}: ${message}`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
