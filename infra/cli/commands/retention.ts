import { Command } from 'commander';
import { action, examples } from '../cli.ts';

export function retention(): Command {
  return new Command('retention')
    .description('shows how long cells are kept, what was erased by that, and the last purge')
    .addHelpText('after', examples(['schemaless retention', 'of the datastore that is meant']))
    .action(action<[]>(async (session) => session.output.record(await (await session.retention()).retention())));
}
