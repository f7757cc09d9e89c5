import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AcceptedCells } from './accepted-cells.ts';
import { drive, type Driven } from './drive.ts';
import { readExact } from './exact-json.ts';
import { forgetPeak, memoryOf } from './memory.ts';
import { sender, type HostileRequest, type HttpAnswer } from './send.ts';

/** Larger bodies are sent to use memory; reading them exactly would take as much here. */
const MOST_COMPARED = 2 * 1024 * 1024;

/** The results of requests to a server without limits and checks. */
export interface BareOutcome {
  readonly driven: Driven;
  /** Cells that it accepted, and those of them that it stored as something else. */
  readonly cells: number;
  readonly changed: number;
  /** The growth of its memory in bytes. */
  readonly grown: number;
}

export async function driveBareServer(requests: readonly HostileRequest[], signal: AbortSignal): Promise<BareOutcome> {
  const child = fork(new URL('bare-server.ts', import.meta.url), { execArgv: [] });
  try {
    const [url] = (await once(child, 'message', { signal })) as [string];
    const pid = child.pid ?? 0;
    forgetPeak(pid);
    const start = memoryOf(pid).now;
    using sending = sender(url, 1);
    let [cells, changed] = [0, 0];
    const heard = (request: HostileRequest, answer: HttpAnswer): void => {
      if (
        request.method !== 'PUT' ||
        answer.status !== 200 ||
        request.body === undefined ||
        request.body.length > MOST_COMPARED
      )
        return;
      cells += 1;
      if (bodyOf(answer.text) !== exactOrNothing(request.body.toString())) changed += 1;
    };
    // Its answers to batches are not recorded: they say too little.
    const accepted: AcceptedCells = new Map();
    const driven = await drive({ sender: sending, requests, sideBySide: 1, accepted, heard, signal });
    return { driven, cells, changed, grown: memoryOf(pid).peak - start };
  } finally {
    child.kill('SIGKILL');
  }
}

function bodyOf(text: string): string | undefined {
  return readExact(text).members?.get('body')?.canonical;
}

/** Returns undefined for text that only this server takes for JSON. */
function exactOrNothing(text: string): string | undefined {
  try {
    return readExact(text).canonical;
  } catch {
    return undefined;
  }
}
