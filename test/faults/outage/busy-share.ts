import { cpus } from 'node:os';

/** Begins to measure how busy the machine is, whoever keeps it busy; ask for the share, 0 to 1, since then. */
export function busyShare(): () => number {
  const before = times();
  return () => {
    const after = times();
    return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
  };
}

function times(): { readonly idle: number; readonly all: number } {
  const each = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({
    idle,
    all: user + nice + sys + idle + irq,
  }));
  return { idle: each.reduce((sum, { idle }) => sum + idle, 0), all: each.reduce((sum, { all }) => sum + all, 0) };
}
