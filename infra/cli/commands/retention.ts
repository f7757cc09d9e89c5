import { Command } from 'commander';
import { action, examples } from '../cli.ts';

export function retention(): Command {
  return new Command('retention')
    .description('shows how long cells are kept, and what was erased by that')
    .addHelpText('after', examples(['schemaless retention', 'of the datastore that is meant']))
    .action(action<[]>(async (session) => session.output.record(await (await session.erasures()).retention())));
}
