import { Command } from 'commander';
import { definitionsClient } from '../../../shared/client/definitions-client.ts';
import type { DeleteOptions } from '../../../shared/contract/definition-operations.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { LOCAL_URL, type ApiOptions } from './apply.ts';

interface Said {
  readonly confirm: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Takes part of what there is to do; says whether it is done. */
type Deletion = (options: DeleteOptions) => Promise<{
  readonly done?: boolean;
  readonly dry_run: boolean;
  readonly lost: object | null;
}>;

/** `delete datastore|index|trigger`: for good, on a local stack and in dev. */
export function deleteCommand(api: () => ApiOptions = () => ({ url: LOCAL_URL })): Command {
  const command = new Command('delete')
    .summary('delete a datastore, an index or a trigger for good')
    .description(
      'Deletes for good what no deployment defines any more. Refused where something is lost with it, unless --force. On a local stack and in dev.',
    )
    .addHelpText('after', '\nExample:\n  delete datastore shop --confirm shop --dry-run');
  const part = (name: string, what: string): Command =>
    command
      .command(name)
      .description(`deletes ${what}`)
      .requiredOption('--confirm <name>', 'its name, once more')
      .option('--force', 'also where something is lost with it')
      .option('--dry-run', 'say what would be lost, and change nothing');
  part('datastore', 'a datastore: its databases, indexes, triggers and queues')
    .argument('<datastore>')
    .action((name: string, said: Said) =>
      remove(`datastore ${name}`, said, (how) => definitionsClient(api()).deleteDatastore(name, how)),
    );
  part('index', 'an index; its tables go some minutes later')
    .argument('<datastore>')
    .argument('<index>')
    .action((datastore: string, name: string, said: Said) =>
      remove(`index ${datastore}/${name}`, said, (how) => definitionsClient(api()).deleteIndex(datastore, name, how)),
    );
  part('trigger', 'a trigger, with its queues, offsets and parked cells')
    .argument('<datastore>')
    .argument('<trigger>')
    .action((datastore: string, name: string, said: Said) =>
      remove(`trigger ${datastore}/${name}`, said, (how) =>
        definitionsClient(api()).deleteTrigger(datastore, name, how),
      ),
    );
  return command;
}

async function remove(
  what: string,
  { confirm, force = false, dryRun = false }: Said,
  deletion: Deletion,
): Promise<void> {
  try {
    let outcome = await deletion({ confirm, force, dry_run: dryRun });
    const { lost } = outcome;
    while (outcome.done === false && !outcome.dry_run) outcome = await deletion({ confirm, force });
    const counts = Object.entries(lost ?? {}).filter(([, count]) => count > 0);
    const losing = counts.map(([thing, count]) => `${count} ${thing}`).join(', ');
    const withIt = losing === '' ? '' : ` with ${losing}`;
    process.stdout.write(`${what}: ${dryRun ? 'would be deleted' : 'deleted'}${withIt}\n`);
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    process.stderr.write(`${error.code}: ${error.message}\n`);
    process.exitCode = 1;
  }
}
