import { InvalidArgumentError, Option } from 'commander';

/**
 * What `--small` stands for: all that a store promises while one server is away, but for reads of what that server holds,
 * since there are no readers. One group would keep no copies, and answer 503 in place of 202.
 */
export const SMALL = { groups: 3, readers: 0, functionIdle: 20 } as const;

/** Of a new folder; one that is there keeps its number. */
export const SMALL_SHARDS = 16;

/** The flags of the preset, by the names of their values. */
const FLAGS = { groups: '--groups', readers: '--readers', functionIdle: '--function-idle' } as const;

export function smallFlag(): Option {
  return new Option(
    '--small',
    `under 1 GB of memory: ${SMALL.groups} groups without readers, ${SMALL_SHARDS} shards at first, functions let go after ${SMALL.functionIdle} s`,
  ).implies({ ...SMALL });
}

/** Throws `InvalidArgumentError` where a flag says otherwise than the preset. */
export function checkSmall(flags: Readonly<Record<keyof typeof SMALL, number>> & { readonly small?: boolean }): void {
  if (flags.small !== true) return;
  for (const key of ['groups', 'readers', 'functionIdle'] as const)
    if (flags[key] !== SMALL[key])
      throw new InvalidArgumentError(
        `${FLAGS[key]}: wanted ${SMALL[key]}, which --small stands for, got ${flags[key]}: leave out one of the two`,
      );
}
