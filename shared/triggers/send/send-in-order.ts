import type { LogEntry } from '../../follow/follower.ts';
import type { QueueMessage } from '../state/queues.ts';

export interface SendInOrder {
  /** Sends up to ten messages, and returns for each why the queue does not have it. */
  readonly send: (messages: readonly QueueMessage[]) => Promise<readonly (Error | undefined)[]>;
  readonly toMessage: (cell: LogEntry) => QueueMessage;
  /** Parallel requests. */
  readonly sideBySide: number;
  /** No request begins after this time. */
  readonly forMs: number;
}

export interface Sent {
  /** The added id of the last cell of each shard that the queue took. */
  readonly done: ReadonlyMap<number, number>;
  readonly cells: readonly LogEntry[];
  readonly failure: unknown;
}

const MESSAGES_A_REQUEST = 10;

interface Line {
  readonly shard: number;
  readonly cells: readonly LogEntry[];
  sent: number;
  failed: boolean;
}

/**
 * Sends cells to a FIFO queue, those of each shard in their order **whatever fails**: a cell is sent once the queue is
 * known to have the one before it. A request holds cells of ten different shards.
 *
 * Ten cells of one shard in a request would be wrong. If the third fails alone, the queue has the fourth before it, and
 * drops the fourth by its deduplication id when both are sent again.
 *
 * @param cells in log order for each shard
 */
export async function sendInOrder(
  { send, toMessage, sideBySide, forMs }: SendInOrder,
  cells: readonly LogEntry[],
): Promise<Sent> {
  const lines = [...Map.groupBy(cells, ({ shard }) => shard)].map(([shard, cells]): Line => ({
    shard,
    cells,
    sent: 0,
    failed: false,
  }));
  const waiting = [...lines];
  const until = performance.now() + forMs;
  let failure: unknown;

  async function request(some: readonly Line[]): Promise<void> {
    const next = some.flatMap(({ cells, sent }) => cells.slice(sent, sent + 1));
    const failures = await send(next.map((cell) => toMessage(cell))).catch((error: unknown) => next.map(() => error));
    for (const [item, line] of some.entries()) {
      failure ??= failures[item];
      line.failed = failures[item] !== undefined;
      if (!line.failed) line.sent += 1;
    }
    waiting.push(...some.filter(({ cells, sent, failed }) => !failed && sent < cells.length));
  }

  async function goOn(): Promise<void> {
    while (waiting.length > 0 && performance.now() < until) await request(waiting.splice(0, MESSAGES_A_REQUEST));
  }

  await Promise.all(Array.from({ length: sideBySide }, goOn));
  return {
    done: new Map(
      lines.flatMap(({ shard, cells, sent }) => (sent > 0 ? [[shard, cells[sent - 1]?.added_id ?? 0] as const] : [])),
    ),
    cells: lines.flatMap(({ cells, sent }) => cells.slice(0, sent)),
    failure,
  };
}
