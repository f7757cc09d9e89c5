/**
 * How much a server takes of its machine. What it promises of a commit, how it replicates and what it refuses is the
 * same for either.
 *
 * - `small`: six of them beside whatever else a laptop does. Files grow as they are filled, memory with the shards.
 * - `full`: for figures of a server that has the memory that it wants.
 */
export type ServerSize = 'small' | 'full';

export const SERVER_SIZES = ['small', 'full'] as const satisfies readonly ServerSize[];
