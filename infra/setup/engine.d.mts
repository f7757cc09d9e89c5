/** The server kinds that the store runs on. */
export type EngineKind = 'mysql' | 'mariadb';

/** A database server program on this machine. */
export interface InstalledEngine {
  /** From the output of `--version`, never from the file's name. */
  readonly kind: EngineKind;
  /** Three numbers: "10.11.6". */
  readonly version: string;
  /** The program and what must come before its own arguments. */
  readonly command: readonly string[];
  /** Arguments that say where the program's own files are; after `--no-defaults`. */
  readonly ownArguments: readonly string[];
  /** MariaDB's script that makes a data folder. */
  readonly installer?: string | undefined;
}

export interface EngineOptions {
  /** @default a real MySQL that is installed, else MariaDB */
  readonly desired?: EngineKind | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Folders to search in addition to PATH. @default the folders in which systems keep servers */
  readonly folders?: readonly string[];
}

/** `--engine VALUE` of a command line, else SCHEMALESS_ENGINE, else undefined. Throws when it is neither engine. */
export function requestedEngine(args: readonly string[], env: NodeJS.ProcessEnv): EngineKind | undefined;

/** Returns the folder of downloads: `$XDG_CACHE_HOME/schemaless`, else `~/.cache/schemaless`. */
export function cacheFolder(env?: NodeJS.ProcessEnv): string;

/** The engine to run, or undefined when it is not on the machine. */
export function findEngine(options?: EngineOptions): InstalledEngine | undefined;

/** Finds the engine, or installs it and says what and why. Throws with the command to run if it cannot. */
export function ensureEngine(
  options?: EngineOptions & { readonly log?: (line: string) => void },
): Promise<InstalledEngine>;
