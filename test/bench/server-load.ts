import { readFileSync } from 'node:fs';
import { toNumber, toText } from '../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../shared/sql/client.ts';

/** What database servers were asked, and what it took, in sums over all of them. */
export interface ServerLoad {
  readonly statements: number;
  /** Both ways. */
  readonly bytes: number;
  readonly cpuMs: number;
}

/** Of what the kernel counts processor time in: 100 a second. */
const TICK_MS = 10;
const COUNTERS = `SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Bytes_sent', 'Bytes_received')`;

/**
 * Since the servers began.
 *
 * @param pids of the servers
 * @param clients one for each group that has a writer and a reader
 */
export async function readServerLoad(pids: readonly number[], clients: readonly SqlClient[]): Promise<ServerLoad> {
  let [statements, bytes] = [0, 0];
  for (const client of clients) {
    for (const role of ['writer', 'reader'] as const) {
      for (const [name, value] of await client.select({ sql: COUNTERS, parameters: [] }, role)) {
        if (toText(name) === 'Questions') statements += toNumber(value);
        else bytes += toNumber(value);
      }
    }
  }
  return { statements, bytes, cpuMs: pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0) };
}

/** Processor time of a process so far: its own and the kernel's for it. */
function cpuMsOf(pid: number): number {
  // The name may hold spaces; what counts follows the last bracket.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
