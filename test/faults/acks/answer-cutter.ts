import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Random } from '../../support/random.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { AnswerReader, StatementReader } from './statement-reader.ts';

const HOST = '127.0.0.1';

/** What a statement changes: a shard's log, a buffer table by a new copy, or a buffer table otherwise. */
export type Change = 'appends' | 'copies' | 'other';

export interface Cuts {
  /** Changes that the servers answered, and how many of these answers never arrived. */
  answered: number;
  cut: number;
}

/** Stands between the store and the groups' writers, and takes away answers to what was done. */
export interface AnswerCutter extends AsyncDisposable {
  /** The groups, with writers that are reached through here. */
  readonly groups: readonly GroupAccess[];
  readonly counts: Readonly<Record<Change, Cuts>>;
  /** Milliseconds that each answer to a change is held back from now on. */
  hold(milliseconds: number): void;
}

/**
 * Opens an address for each group's writer. Of the changes, a share (0 to 1) is answered by a connection that breaks
 * just when the server's answer is there: the server has done it, or refused it, and nobody hears of it.
 */
export async function openAnswerCutter(
  groups: readonly GroupAccess[],
  share: number,
  seed: string,
): Promise<AnswerCutter> {
  const counts: Record<Change, Cuts> = {
    appends: { answered: 0, cut: 0 },
    copies: { answered: 0, cut: 0 },
    other: { answered: 0, cut: 0 },
  };
  const sockets = new Set<Socket>();
  let [heldMs, connections] = [0, 0];

  function forward(client: Socket, writer: GroupAccess['writer']): void {
    const server = connect({ ...writer, noDelay: true });
    const pair = [client, server];
    const random = new Random(seed, 'cuts', (connections += 1));
    const reader = new StatementReader();
    const answers = new AnswerReader();
    /** The change whose answer is to come: there is one statement at a time on a connection. */
    let pending: { readonly change: Change; readonly isCut: boolean } | undefined;
    const end = (): void => {
      for (const socket of pair) {
        sockets.delete(socket);
        if (!socket.destroyed) socket.resetAndDestroy();
      }
    };
    for (const socket of pair) {
      sockets.add(socket);
      socket.once('error', end).once('close', end);
    }
    client.on('data', (chunk: Buffer) => {
      for (const start of reader.read(chunk)) {
        const change = changeOf(start);
        pending = change && { change, isCut: random.chance(share) };
      }
      server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      const answered = pending;
      const answer = answered ? answers.read(chunk) : chunk;
      if (!answer) return;
      pending = undefined;
      if (!answered) {
        client.write(answer);
        return;
      }
      counts[answered.change].answered += 1;
      if (answered.isCut) {
        counts[answered.change].cut += 1;
        end();
      } else if (heldMs === 0) client.write(answer);
      else setTimeout(() => void (client.destroyed || client.write(answer)), heldMs);
    });
  }

  const servers = await Promise.all(groups.map(({ writer }) => listen((client) => forward(client, writer))));
  return {
    groups: groups.map((group, position) => ({ ...group, writer: { host: HOST, port: servers[position]?.port ?? 0 } })),
    counts,
    hold: (milliseconds) => void (heldMs = milliseconds),
    async [Symbol.asyncDispose]() {
      const closed = servers.map(({ server }) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}

function changeOf(start: string): Change | undefined {
  // Cells get their numbers before they are inserted.
  if (/\.shard FORCE INDEX \(PRIMARY\) SET head_at/u.test(start)) return 'appends';
  const statement = /(?:INSERT INTO|UPDATE|DELETE) .*/su.exec(start)?.[0];
  if (statement === undefined) return undefined;
  if (!statement.startsWith('INSERT')) return 'other';
  return /^INSERT INTO `[a-z0-9_]+`\.`entity`/u.test(statement) ? 'appends' : 'copies';
}

async function listen(take: (client: Socket) => void): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer({ noDelay: true }, take);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host: HOST, port: 0 }, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}
