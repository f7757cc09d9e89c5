import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CommandTexts, isCommit } from './command-texts.ts';

/** The address of a group's writer. */
export interface WriterAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Forwards to a group's writer, and makes commits wait for their turn. Each takes this many milliseconds, one after the
 * other, as on a disk with serial flushes; reads pass at once. So a group's commit rate is fixed, however many callers
 * there are, and however fast the machine is.
 */
export class CommitLine {
  commits = 0;
  readonly #eachMs: number;
  readonly #target: WriterAddress;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The time when the last waiting commit has had its turn. */
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
    /** The answer to the command under way, held until its commit has had its turn. */
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
