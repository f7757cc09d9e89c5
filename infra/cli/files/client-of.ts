import type { Command } from 'commander';
import type { SchemalessClient } from '../../../shared/client/client.ts';

/** How a command reaches a datastore. */
export interface CommandClient {
  readonly url: string;
  readonly datastore: string;
  readonly client: SchemalessClient;
}

/**
 * Makes the client that a command asks, by the flags that all commands have.
 *
 * @param signal ends its requests, those under way too
 */
export type ClientOf = (command: Command, signal: AbortSignal) => CommandClient | Promise<CommandClient>;
