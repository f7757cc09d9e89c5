import { setTimeout as sleep } from 'node:timers/promises';

/** Between two polls of the requests that are due. */
const TICK_MS = 2;

interface OpenLoop {
  /** Requests started a second, at fixed times, whether or not earlier ones have ended. */
  readonly perSecond: number;
  readonly milliseconds: number;
  /** Starts one. Its time counts from the moment it was due, even if this process is late. */
  readonly send: (dueAt: number) => void;
}

/** Starts requests as independent callers do, without waiting for slow ones. */
export async function openLoop({ perSecond, milliseconds, send }: OpenLoop): Promise<void> {
  // Clock: a bench's pace.
  const start = performance.now();
  for (let sent = 0; ;) {
    // Clock: a bench's pace.
    const elapsed = Math.min(performance.now() - start, milliseconds);
    for (const due = Math.ceil((elapsed / 1000) * perSecond); sent < due; sent += 1)
      send(start + (sent * 1000) / perSecond);
    if (elapsed >= milliseconds) return;
    // Clock: a bench's pace.
    await sleep(TICK_MS);
  }
}

interface ClosedLoop {
  readonly clients: number;
  readonly milliseconds: number;
  /** Ends it before its time. */
  readonly isOver?: () => boolean;
  /** One request, from its start to its end. */
  readonly send: () => Promise<void>;
}

/** So many clients, each with one request under way at a time. */
export async function closedLoop({ clients, milliseconds, isOver = () => false, send }: ClosedLoop): Promise<void> {
  // Clock: a bench's load lasts this long.
  const end = performance.now() + milliseconds;
  const client = async (): Promise<void> => {
    // Clock: as above.
    while (performance.now() < end && !isOver()) await send();
  };
  await Promise.all(Array.from({ length: clients }, client));
}
