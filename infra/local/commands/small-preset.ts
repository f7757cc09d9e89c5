import { InvalidArgumentError, Option } from 'commander';

/** `--small`: no readers, so an unavailable server's reads stop. A single group would keep no hints. */
export const SMALL = { readers: 0, functionIdle: 20 } as const;

/** For a new folder; an existing one keeps its number. */
export const SMALL_GROUPS = 3;
export const SMALL_SHARDS = 16;

/** Flags by the names of their values. */
const FLAGS = { groups: '--groups', readers: '--readers', functionIdle: '--function-idle' } as const;

export function smallFlag(): Option {
  return new Option(
    '--small',
    `under 1 GB of memory: ${SMALL_GROUPS} groups at first, without readers, ${SMALL_SHARDS} shards at first, functions let go after ${SMALL.functionIdle} s`,
  ).implies({ ...SMALL });
}

interface CheckedFlags extends Readonly<Record<keyof typeof SMALL, number>> {
  readonly groups?: number;
  readonly small?: boolean;
}

/** Throws `InvalidArgumentError` for a flag that contradicts the preset. */
export function checkSmall({ small, groups = SMALL_GROUPS, readers, functionIdle }: CheckedFlags): void {
  if (small !== true) return;
  const [wanted, got] = [
    { groups: SMALL_GROUPS, ...SMALL },
    { groups, readers, functionIdle },
  ];
  for (const key of ['groups', 'readers', 'functionIdle'] as const)
    if (got[key] !== wanted[key])
      throw new InvalidArgumentError(
        `${FLAGS[key]}: wanted ${wanted[key]}, which --small stands for, got ${got[key]}: leave out one of the two`,
      );
}
