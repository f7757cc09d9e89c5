import type { Command } from 'commander';
import { command } from '../cli.ts';

export function retention(): Command {
  return command('retention')
    .description('shows how long cells are kept, and what was erased by that')
    .examples(['schemaless retention', 'of the datastore that is meant'])
    .run<[]>(async (session) => session.output.record(await (await session.api()).getRetention()));
}
