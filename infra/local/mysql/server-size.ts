/** A server's memory and disk; guarantees are the same. `small`: six of them on a laptop. `full`: for measurements. */
export type ServerSize = 'small' | 'full';

export const SERVER_SIZES = ['small', 'full'] as const satisfies readonly ServerSize[];
