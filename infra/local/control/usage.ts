import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTicks, proportionalBytes, TICKS_PER_SECOND } from '../platform/process-table.ts';
import type { StackStatus } from './commands.ts';

export interface Usage {
  readonly seconds: number;
  readonly disk: Room;
  /** By kind of file: numbers within names do not tell kinds apart. Largest first. */
  readonly files: readonly (Room & { readonly kind: string; readonly count: number })[];
  readonly processes: readonly ProcessUsage[];
}

interface Room {
  readonly taken: number;
  /** File sizes, with holes. */
  readonly apparent: number;
}

interface ProcessUsage {
  readonly title: string;
  readonly pid: number;
  /** Counts shared memory in part (PSS). */
  readonly memory: number;
  readonly cpu: number;
  /** The busiest first; idle threads are left out. */
  readonly threads: readonly { readonly name: string; readonly cpu: number }[];
}

const BLOCK_BYTES = 512;

/** Observes a stack's files and processes for some seconds. */
export async function usageOf(
  { pid, nodes, functions }: Pick<StackStatus, 'pid' | 'nodes' | 'functions'>,
  data: string,
  seconds: number,
): Promise<Usage> {
  const own = { title: 'stack and its functions', pid };
  const ofFunctions = functions.flatMap(({ title, instances }) => instances.map((one) => ({ title, pid: one.pid })));
  const servers = nodes.map((node) => ({ title: node.node, pid: node.pid }));
  const named = [own, ...ofFunctions, ...servers].filter(
    (one, index, all) => one.pid > 0 && all.findIndex((other) => other.pid === one.pid) === index,
  );
  const before = named.map((one) => cpuTicks(one.pid));
  const begun = performance.now();
  await sleep(seconds * 1000);
  const passed = (performance.now() - begun) / 1000;
  const processes = named.map(({ title, pid: of }, index): ProcessUsage => {
    const share = (ticks: number): number => ticks / TICKS_PER_SECOND / passed;
    const threads = [...cpuTicks(of)].map(([id, { name, ticks }]) => ({
      name,
      cpu: share(ticks - (before[index]?.get(id)?.ticks ?? 0)),
    }));
    return {
      title,
      pid: of,
      memory: proportionalBytes(of),
      cpu: threads.reduce((sum, { cpu }) => sum + cpu, 0),
      threads: threads.filter(({ cpu }) => cpu > 0).toSorted((one, other) => other.cpu - one.cpu),
    };
  });
  return { seconds: passed, ...filesBelow(data), processes };
}

function filesBelow(folder: string): Pick<Usage, 'disk' | 'files'> {
  const kinds = new Map<string, Room & { readonly count: number }>();
  const disk = { taken: 0, apparent: 0 };
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    if (!found?.isFile()) continue;
    const kind = basename(name).replaceAll(/\d+/gu, 'N').replace(/#.*/u, '#…');
    const { taken, apparent, count } = kinds.get(kind) ?? { taken: 0, apparent: 0, count: 0 };
    const bytes = found.blocks * BLOCK_BYTES;
    kinds.set(kind, { taken: taken + bytes, apparent: apparent + found.size, count: count + 1 });
    disk.taken += bytes;
    disk.apparent += found.size;
  }
  const files = [...kinds].map(([kind, room]) => ({ kind, ...room })).toSorted((one, other) => other.taken - one.taken);
  return { disk, files };
}
