import { Command, CommanderError, type Option } from 'commander';
import type { ApiClient } from '../../shared/client/api-client.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { VERSION } from '../../shared/version.ts';
import { CommandError, endingOf, errorJson, errorText, EXIT_CODES, type Ending } from './errors.ts';
import { globalFlags } from './flags.ts';
import { openSession, type GlobalFlags, type Session } from './session.ts';

const OF_ALL_COMMANDS = 'Options of all commands:';
const HELP_SAYS = '--help shows the usage';

export type CommandOf = () => Command;

/** The work of a command. Returns how the command ends. @default ok */
type Action<Parameters extends readonly unknown[], Flags> = (
  session: Session,
  parameters: Parameters,
  flags: Flags,
) => Promise<Ending | void>;

class SessionCommand extends Command {
  override createCommand(name?: string): SessionCommand {
    return new SessionCommand(name);
  }

  addOptions(options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  examples(...lines: readonly (readonly [command: string, does: string])[]): this {
    const width = Math.max(...lines.map(([typed]) => typed.length));
    const shown = lines.map(([typed, does]) => `  ${typed.padEnd(width)}  # ${does}`);
    return this.addHelpText('after', `\nExamples:\n${shown.join('\n')}`);
  }

  notes(text: string): this {
    return this.addHelpText('after', `\n${text}`);
  }

  /** Asks the API of the chosen datastore, and prints the answer. */
  prints<Parameters extends readonly unknown[], Flags = object>(
    ask: (api: ApiClient, parameters: Parameters, flags: Flags) => Promise<object>,
  ): this {
    return this.run<Parameters, Flags>(async (session, parameters, flags) =>
      session.output.record(await ask(await session.api(), parameters, flags)),
    );
  }

  /** Runs the command with a session, and shows errors. */
  run<Parameters extends readonly unknown[], Flags = object>(act: Action<Parameters, Flags>): this {
    return this.action(async () => {
      const flags = flagsOf<Flags>(this);
      const global = hasOwnFormat(this) ? { ...flags, format: undefined } : flags;
      const session = openSession(global);
      try {
        const ending = await act(session, this.processedArgs as unknown as Parameters, flags);
        process.exitCode = EXIT_CODES[ending ?? 'ok'].code;
      } catch (caught) {
        const error = ofTheCommand(caught);
        process.stderr.write(`${isForPrograms(global.format) ? errorJson(error) : errorText(error)}\n`);
        process.exitCode = EXIT_CODES[endingOf(error)].code;
      } finally {
        session.close();
      }
    });
  }
}

export function command(name: string): SessionCommand {
  return new SessionCommand(name);
}

function isForPrograms(format: unknown): boolean {
  return format === 'json' || format === 'ndjson';
}

/** Returns whether `--format` is the format of files, not of results. */
function hasOwnFormat({ options }: Command): boolean {
  return options.some(({ long, helpGroupHeading }) => long === '--format' && helpGroupHeading !== OF_ALL_COMMANDS);
}

function flagsOf<Flags>(command: Command): GlobalFlags & Flags {
  const { parent } = command;
  return { ...(parent ? flagsOf(parent) : {}), ...command.opts<GlobalFlags & Flags>() };
}

/** Returns the command's own error, such as a failed signature, which a request's error has as its cause. */
function ofTheCommand(error: unknown): unknown {
  return error instanceof SchemalessError && error.cause instanceof CommandError ? error.cause : error;
}

export function commandGroup(name: string, description: string, commands: readonly Command[]): Command {
  const group = new Command(name).description(description);
  for (const one of commands) group.addCommand(one);
  return group;
}

export function buildProgram(commands: readonly CommandOf[]): Command {
  const program = new Command('schemaless')
    .description('read, write, follow and operate datastores of Schemaless')
    .version(VERSION, '-V, --version', 'print the version of this command')
    .helpOption('-h, --help', 'show the help of a command, with examples')
    .helpCommand('help [command]', 'the same')
    .enablePositionalOptions()
    .showHelpAfterError(`(${HELP_SAYS})`)
    .exitOverride();
  for (const flag of globalFlags()) program.addOption(flag);
  for (const make of commands) program.addCommand(inheriting(make(), program));
  return program;
}

/** Adds the program's flags to a command, except those that the command names otherwise. */
function inheriting(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheriting(child, command);
  if (command.commands.length > 0) return command;
  const own = command.options.map(({ long }) => long);
  for (const flag of globalFlags()) if (!own.includes(flag.long)) command.addOption(flag.helpGroup(OF_ALL_COMMANDS));
  return command;
}

export async function runProgram(program: Command): Promise<void> {
  const asJson = isForPrograms(formatTyped(program, process.argv.slice(2)));
  if (asJson) silence(program);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version are no mistakes. Mistakes were already shown, except to programs.
    const isMistake = error.exitCode !== 0;
    process.exitCode = EXIT_CODES[isMistake ? 'usage' : 'ok'].code;
    // For a group without a command, commander only has the help.
    const message = error.code === 'commander.help' ? 'wanted a command, got none' : error.message;
    if (isMistake && asJson)
      process.stderr.write(
        `${errorJson(new CommandError(message.replace(/^error: /u, ''), { ending: 'usage', fix: HELP_SAYS }))}\n`,
      );
  }
}

/** Suppresses messages about invalid arguments. */
function silence(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  command.commands.forEach(silence);
}

/** Returns the typed format of results, even if the arguments are invalid; undefined for a command without one. */
function formatTyped(program: Command, typed: readonly string[]): string | undefined {
  const takesValue = new Set(
    globalFlags().flatMap(({ long, short, required }) => (required ? [long, short].filter((one) => one) : [])),
  );
  const isName = (one: string, position: number): boolean =>
    !one.startsWith('-') && !takesValue.has(typed[position - 1] ?? '');
  const first = typed.find(isName);
  const command = program.commands.find((one) => one.name() === first);
  if (command && hasOwnFormat(command)) return undefined;
  const position = typed.findLastIndex((one) => one === '--format' || one.startsWith('--format='));
  const [, joined] = typed[position]?.split('=', 2) ?? [];
  return position < 0 ? undefined : (joined ?? typed[position + 1]);
}
