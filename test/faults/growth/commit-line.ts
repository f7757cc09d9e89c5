import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CommandTexts, isCommit } from './command-texts.ts';

/** Where a group's writer is. */
export interface WriterAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * A forwarder to a group's writer that has commits wait for their turn: each takes so many milliseconds, one after the
 * other, as on a disk that flushes for one at a time. What is read passes at once. So a group commits as often in a
 * second and no more, however many ask, and however fast the machine is.
 */
export class CommitLine {
  commits = 0;
  readonly #eachMs: number;
  readonly #target: WriterAddress;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** When the last commit that waits has had its turn. */
  #free = 0;

  private constructor(target: WriterAddress, eachMs: number) {
    this.#target = target;
    this.#eachMs = eachMs;
    this.#server = createServer({ noDelay: true }, (client) => this.#forward(client));
  }

  static async open(target: WriterAddress, eachMs: number): Promise<CommitLine> {
    const line = new CommitLine(target, eachMs);
    await new Promise<void>((resolve) => {
      line.#server.listen({ host: target.host, port: 0, backlog: 511 }, resolve);
    });
    return line;
  }

  get address(): WriterAddress {
    return { host: this.#target.host, port: (this.#server.address() as AddressInfo).port };
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(client: Socket): void {
    const server = connect({ ...this.#target, noDelay: true });
    const commands = new CommandTexts();
    /** Of the command under way: what is held of its answer until its commit has had its turn. */
    let answer: Buffer[] | undefined;
    let isCommitting = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => [client, server].forEach((one) => one.destroy()));
      socket.once('close', () => {
        this.#sockets.delete(socket);
        [client, server].forEach((one) => one.destroy());
      });
    }
    client.on('data', (chunk: Buffer) => {
      if (commands.read(chunk).some(isCommit)) isCommitting = true;
      server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      if (answer) return void answer.push(chunk);
      if (!isCommitting) return void client.write(chunk);
      isCommitting = false;
      const held = (answer = [chunk]);
      this.#inTurn(() => {
        answer = undefined;
        if (!client.destroyed) client.write(Buffer.concat(held));
      });
    });
  }

  #inTurn(work: () => void): void {
    this.commits += 1;
    const now = performance.now();
    this.#free = Math.max(now, this.#free) + this.#eachMs;
    setTimeout(work, this.#free - now);
  }
}
