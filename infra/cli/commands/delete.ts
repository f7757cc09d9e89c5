import type { Command } from 'commander';
import type { DeletedPart, DeleteOptions } from '../../../shared/api/definitions.ts';
import { command } from '../cli.ts';

interface Said {
  readonly confirm: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

export function deleteCommand(): Command {
  const index = part('index', 'an index; its tables go some minutes later').run<[string, string], Said>(
    async (session, [datastore, name], said) => {
      const api = await session.apiOf(datastore);
      await remove(`index ${datastore}/${name}`, said, (how) => api.deleteIndex({ index: name, ...how }));
    },
  );
  const trigger = part('trigger', 'a trigger, with its queues, offsets and parked cells').run<[string, string], Said>(
    async (session, [datastore, name], said) => {
      const api = await session.apiOf(datastore);
      await remove(`trigger ${datastore}/${name}`, said, (how) => api.deleteTrigger({ trigger: name, ...how }));
    },
  );
  return command('delete')
    .summary('delete an index or a trigger for good')
    .description(
      'Deletes for good what no deployment defines any more. Refused where something is lost with it, unless --force. On a local stack and in dev.',
    )
    .examples(...EXAMPLES)
    .addCommand(index)
    .addCommand(trigger);
}

const EXAMPLES = [
  ['schemaless delete trigger shop send_order --confirm send_order --dry-run', 'what would be lost'],
  ['schemaless delete index trips day_index --confirm day_index', 'deletes it'],
] as const;

function part(name: 'index' | 'trigger', what: string): ReturnType<typeof command> {
  return command(name)
    .description(`deletes ${what}`)
    .argument('<datastore>')
    .argument(`<${name}>`)
    .requiredOption('--confirm <name>', 'its name, once more')
    .option('--force', 'also where something is lost with it')
    .option('--dry-run', 'say what would be lost, and change nothing')
    .examples(...EXAMPLES);
}

async function remove(
  what: string,
  { confirm, force = false, dryRun = false }: Said,
  deletion: (options: DeleteOptions) => Promise<DeletedPart>,
): Promise<void> {
  const { lost } = await deletion({ confirm, force, dry_run: dryRun });
  const counts = Object.entries(lost ?? {}).filter(([, count]) => count > 0);
  const losing = counts.map(([thing, count]) => `${count} ${thing}`).join(', ');
  const withIt = losing === '' ? '' : ` with ${losing}`;
  process.stdout.write(`${what}: ${dryRun ? 'would be deleted' : 'deleted'}${withIt}\n`);
}
