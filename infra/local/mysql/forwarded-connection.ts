import { connect, type Socket } from 'node:net';
import { logInByToken, withPassword, type JudgeLogin } from './proxied-login.ts';

/**
 * A forwarder's fault, for old and new connections.
 *
 * - `delay`: every answer is late.
 * - `refuse`: connections are reset.
 * - `blackhole`: connections are accepted, and nothing passes until the fault ends.
 * - `cut-answers`: the request passes; the connection is reset instead of an answer.
 * - `drop-answers`: the request passes; the connection never answers again.
 *
 * `share` (0 to 1) is the part of commands affected, handshakes excepted.
 */
export type Fault =
  | { readonly kind: 'delay'; readonly milliseconds: number }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'blackhole' }
  | { readonly kind: 'cut-answers'; readonly share: number }
  | { readonly kind: 'drop-answers'; readonly share: number };

const HEADER_BYTES = 4;

/** Counts commands in a MySQL client's stream: packets of sequence 0 (3 bytes length, 1 sequence). */
class CommandReader {
  #header: number[] = [];
  #contentLeft = 0;

  read(chunk: Uint8Array): number {
    let commands = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#contentLeft > 0) {
        const taken = Math.min(this.#contentLeft, chunk.length - at);
        this.#contentLeft -= taken;
        at += taken;
        continue;
      }
      this.#header.push(chunk[at] ?? 0);
      at += 1;
      if (this.#header.length < HEADER_BYTES) continue;
      const [low = 0, middle = 0, high = 0, sequence = 0] = this.#header;
      this.#contentLeft = low + middle * 0x100 + high * 0x10000;
      this.#header = [];
      if (sequence === 0) commands += 1;
    }
    return commands;
  }
}

export interface Target {
  readonly host: string;
  readonly port: number;
  /** The password of the accounts behind a proxy, which checks tokens; undefined without a proxy. */
  readonly password?: string | undefined;
}

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

  constructor(
    client: Socket,
    { host, port, password }: Target,
    closed: () => void,
    judge: JudgeLogin = () => undefined,
  ) {
    this.#client = client;
    this.#server = connect({ host, port, noDelay: true });
    client.setNoDelay(true);
    client.once('end', () => this.#server.end());
    this.#server.once('end', () => {
      if (this.#fate !== 'drop' && !this.#isForgotten) this.#later(() => client.end());
    });
    for (const socket of [client, this.#server]) socket.once('error', () => this.reset());
    client.once('close', () => {
      this.#server.destroy();
      closed();
    });
    if (password === undefined) this.#forward((chunk) => chunk);
    else
      logInByToken(client, this.#server, { judge, password }).then(
        (isIn) => (isIn ? this.#forward((chunk) => withPassword(chunk, password)) : client.end()),
        () => this.reset(),
      );
  }

  #forward(asSent: (chunk: Buffer) => Buffer): void {
    this.#client.on('data', (chunk: Buffer) => this.#request(asSent(chunk)));
    this.#server.on('data', (chunk: Buffer) => this.#answer(chunk));
    for (const socket of [this.#client, this.#server]) socket.resume();
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
