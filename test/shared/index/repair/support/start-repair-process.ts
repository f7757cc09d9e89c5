import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import type { RepairSettings } from '../../../../../shared/index/repair/settings.ts';
import type { IndexedStore } from './indexed-store.ts';
import type { RepairInput } from './repair-process.ts';

export interface RepairProcess {
  /** Its events, each as JSON. */
  readonly lines: string[];
  /** The exit code once it has ended by itself. */
  exit(): number | null;
  /** As a machine that fails. */
  kill(): Promise<void>;
  /** In order. */
  stop(): Promise<void>;
}

/** The repair as a process of its own. */
export function startRepairProcess(
  { store, stateTable }: IndexedStore,
  { settings = {}, heapMb = 512 }: { readonly settings?: Partial<RepairSettings>; readonly heapMb?: number } = {},
): RepairProcess {
  const { groups, dynamo, dataApi, access } = inject('servers');
  const input: RepairInput = {
    servers: { groups, dynamo, dataApi, access },
    topologyTable: store.topologyTable.table,
    stateTable: stateTable.table,
    settings,
  };
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${heapMb}`,
      fileURLToPath(new URL('repair-process.ts', import.meta.url)),
      JSON.stringify(input),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const lines: string[] = [];
  child.stdout.on('data', (data: Buffer) => lines.push(...data.toString().split('\n').filter(Boolean)));
  return {
    lines,
    exit: () => child.exitCode ?? (child.signalCode === null ? null : -1),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
