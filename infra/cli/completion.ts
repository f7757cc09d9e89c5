import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { profilesFile, readProfiles } from './target/profiles.ts';

export function addCompletion(program: Command): void {
  const { commands } = tab(program);
  for (const command of program.commands)
    if (command.name() === 'complete') command.description('writes what bash, zsh or fish need to complete commands');
  for (const command of commands.values()) {
    const flag = command.options.get('profile');
    if (flag) flag.handler = (complete) => profiles().forEach((name) => complete(name, ''));
  }
}

/** What cannot be read completes nothing, and is refused once a command is run. */
function profiles(): readonly string[] {
  try {
    return Object.keys(readProfiles(profilesFile(process.env)).profiles);
  } catch {
    return [];
  }
}
