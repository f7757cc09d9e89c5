import type { LogEntry } from '../../follow/follower.ts';
import type { QueueMessage } from './queue-client.ts';

export interface SendInOrder {
  /** Sends up to ten messages; says for each, in order, why the queue does not have it. */
  readonly send: (messages: readonly QueueMessage[]) => Promise<readonly (Error | undefined)[]>;
  readonly toMessage: (cell: LogEntry) => QueueMessage;
  /** Requests under way at once. */
  readonly sideBySide: number;
  /** No request is begun after this time. */
  readonly forMs: number;
}

export interface Sent {
  /** How far the queue has each shard: the added id of the last of its cells that it took. */
  readonly done: ReadonlyMap<number, number>;
  readonly cells: readonly LogEntry[];
  /** Of a request, or of one message. */
  readonly failure: unknown;
}

/** SQS takes ten messages a request. */
const MESSAGES_A_REQUEST = 10;

/** The cells of one shard that are still to be sent. */
interface Line {
  readonly shard: number;
  readonly cells: readonly LogEntry[];
  sent: number;
  failed: boolean;
}

/**
 * Puts cells on a FIFO queue, those of each shard in their order **whatever fails**: a cell is sent once the queue is
 * known to have the one before it. Requests are filled with cells of ten different shards, so that the one that fails
 * in the middle of a request stops its own shard only.
 *
 * Ten cells of one shard in a request would be fewer requests for a single busy shard, and wrong: where the third alone
 * fails, the queue has the fourth before it, and the deduplication ids drop the fourth when it is sent again after the
 * third. Consumers take a shard's cells one after another, too, and each takes longer than a request here.
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
