import tab from '@bomb.sh/tab/commander';
import { Command } from 'commander';
import { onAbort } from '../../shared/on-abort.ts';
import { globalFlags } from './flags.ts';
import { openSession, type GlobalFlags } from './session.ts';
import { profilesFile, readProfiles } from './target/profiles.ts';

/** The most that a shell waits for names from the API. */
const API_MS = 300;

const KINDS = ['datastore', 'index', 'trigger'] as const;
type Kind = (typeof KINDS)[number];
type Names = Readonly<Partial<Record<Kind | 'profile', readonly string[]>>>;
type Completions = ReturnType<typeof tab>['commands'];

/** Adds `complete`, which prints a shell's script and answers it, with names of the API if they come in time. */
export async function addCompletion(program: Command): Promise<void> {
  const root = tab(program);
  for (const command of program.commands)
    if (command.name() === 'complete') command.description('print the script for completion in bash, zsh or fish');
  const setup = root.setup.bind(root);
  root.setup = (...parameters) => {
    const { log } = console;
    const once = (script: string): void => log(script.replaceAll(/^readonly /gmu, ''));
    // It prints by console.log; a shell may source the script twice.
    Object.assign(console, { log: once });
    setup(...parameters);
    Object.assign(console, { log });
  };
  const [complete, dashes, ...words] = process.argv.slice(2);
  if (complete !== 'complete' || dashes !== '--') return;
  const names: Names = { profile: profiles(), ...(await namesFor(words, root.commands)) };
  for (const { options, arguments: taken } of root.commands.values())
    for (const [kind, known] of Object.entries(names))
      for (const one of [options.get(kind), taken.get(kind)])
        if (one)
          one.handler = (offer: (name: string, description: string) => void) =>
            known.forEach((name) => offer(name, ''));
}

/** Returns the names that the last word may be. */
async function namesFor(words: readonly string[], commands: Completions): Promise<Names> {
  const before = words.slice(0, -1);
  const isTyped = (path: string): boolean => path !== '' && path.split(' ').every((word) => before.includes(word));
  const path = [...commands.keys()].findLast(isTyped) ?? '';
  const taken = commands.get(path)?.arguments;
  const isFlag = /^(?:-d|--datastore)$/u.test(before.at(-1) ?? '');
  const kinds = KINDS.filter((kind) => (isFlag ? kind === 'datastore' : taken?.has(kind) === true));
  if (kinds.length === 0) return {};
  const isOfArgument = taken?.has('datastore') === true;
  const datastore = isOfArgument ? before[before.indexOf(path.split(' ').at(-1) ?? '') + 1] : undefined;
  const signal = AbortSignal.timeout(API_MS);
  let forget = (): void => undefined;
  const late = new Promise<Names>((resolve) => {
    forget = onAbort(signal, () => {
      resolve({});
      // A connection that still waits would keep the shell waiting.
      setImmediate(() => process.exit());
    });
  });
  const asked = ask(kinds, { ...flagsOf(before), ...(datastore && { datastore }) }, signal);
  return Promise.race([late, asked]).finally(forget);
}

async function ask(kinds: readonly Kind[], flags: GlobalFlags, signal: AbortSignal): Promise<Names> {
  const session = openSession(flags);
  const connecting = { signal, attempts: 1 };
  const found = kinds.map(async (kind): Promise<readonly [Kind, readonly string[]]> => {
    if (kind === 'datastore') return [kind, await session.datastores(connecting)];
    const api = await session.api(connecting);
    return kind === 'index'
      ? [kind, (await api.listIndexes()).indexes.map(({ index }) => index)]
      : [kind, (await api.listTriggers()).triggers.map(({ trigger }) => trigger)];
  });
  const settled = await Promise.allSettled(found);
  return Object.fromEntries(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
}

/** Reads the flags that choose the API; none if one of them is invalid. */
function flagsOf(words: readonly string[]): GlobalFlags {
  const parser = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  for (const flag of globalFlags()) parser.addOption(flag);
  try {
    parser.parseOptions([...words]);
    return parser.opts<GlobalFlags>();
  } catch {
    return {};
  }
}

/** An invalid file completes nothing; commands that need it report the error. */
function profiles(): readonly string[] {
  try {
    return Object.keys(readProfiles(profilesFile(process.env)).profiles);
  } catch {
    return [];
  }
}
