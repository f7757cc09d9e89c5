import { connect, type Socket } from 'node:net';
import { CommandReader } from './command-reader.ts';
import type { Fault } from './fault.ts';

export class ForwardedConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #commands = new CommandReader();
  #fault: Fault | undefined;
  #isForgotten = false;
  /** The fate of the last command's answer. */
  #fate: 'pass' | 'cut' | 'drop' = 'pass';
  /** Delayed answers in order; separate timers would not keep it. */
  readonly #delayed: { readonly due: number; readonly work: () => void }[] = [];

  constructor(client: Socket, target: { readonly host: string; readonly port: number }, closed: () => void) {
    this.#client = client;
    this.#server = connect({ ...target, noDelay: true });
    client.setNoDelay(true);
    client.on('data', (chunk) => this.#request(chunk));
    this.#server.on('data', (chunk) => this.#answer(chunk));
    client.once('end', () => this.#server.end());
    this.#server.once('end', () => {
      if (this.#fate !== 'drop' && !this.#isForgotten) this.#later(() => client.end());
    });
    for (const socket of [client, this.#server]) socket.once('error', () => this.reset());
    client.once('close', () => {
      this.#server.destroy();
      closed();
    });
    client.resume();
  }

  /** A frozen connection continues when the fault ends. */
  setFault(fault: Fault | undefined): void {
    this.#fault = fault;
    if (fault?.kind === 'refuse') {
      this.reset();
      return;
    }
    for (const socket of [this.#client, this.#server]) {
      if (fault?.kind === 'blackhole') socket.pause();
      else socket.resume();
    }
  }

  reset(): void {
    for (const socket of [this.#client, this.#server]) {
      // A socket that is ending cannot be reset: its handle would keep the thread alive.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  /** Resets the connection at the client's next request. */
  forget(): void {
    this.#isForgotten = true;
  }

  #request(chunk: Buffer): void {
    if (this.#isForgotten) return this.reset();
    const fault = this.#fault;
    for (let left = this.#commands.read(chunk); left > 0; left -= 1) {
      if (this.#fate === 'drop') continue;
      this.#fate = 'pass';
      if (fault?.kind === 'cut-answers' && Math.random() < fault.share) this.#fate = 'cut';
      if (fault?.kind === 'drop-answers' && Math.random() < fault.share) this.#fate = 'drop';
    }
    this.#pass(this.#client, this.#server, chunk);
  }

  #answer(chunk: Buffer): void {
    if (this.#fate === 'drop' || this.#isForgotten) return;
    if (this.#fate === 'cut') this.reset();
    else this.#later(() => this.#pass(this.#server, this.#client, chunk));
  }

  #later(work: () => void): void {
    const delayMs = this.#fault?.kind === 'delay' ? this.#fault.milliseconds : 0;
    if (delayMs === 0 && this.#delayed.length === 0) return work();
    this.#delayed.push({ due: performance.now() + delayMs, work });
    if (this.#delayed.length === 1) this.#wait();
  }

  #wait(): void {
    const [first] = this.#delayed;
    if (first) setTimeout(() => this.#workDue(), Math.max(0, first.due - performance.now())).unref();
  }

  #workDue(): void {
    while (this.#delayed[0] && this.#delayed[0].due <= performance.now()) this.#delayed.shift()?.work();
    this.#wait();
  }

  #pass(from: Socket, to: Socket, chunk: Buffer): void {
    if (to.destroyed || to.write(chunk)) return;
    from.pause();
    to.once('drain', () => {
      if (this.#fault?.kind !== 'blackhole') from.resume();
    });
  }
}
