import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';

/** A process that is killed and started again, as functions are. */
export class RestartedProcess<Input, Progress> implements Disposable {
  kills = 0;
  readonly #module: URL;
  readonly #folder: string;
  readonly #inputOf: (life: number) => Input;
  readonly #ended: Progress[] = [];
  #current: KillableProcess<Progress>;

  /** @param inputOf the input by its life, from 0: each may differ from the one before */
  constructor(module: URL, folder: string, inputOf: (life: number) => Input) {
    this.#module = module;
    this.#folder = folder;
    this.#inputOf = inputOf;
    this.#current = startProcess(module, folder, inputOf(0));
  }

  get ready(): Promise<void> {
    return this.#current.ready;
  }

  get progress(): readonly Progress[] {
    const { progress } = this.#current;
    return progress === undefined || this.#ended.includes(progress) ? this.#ended : [...this.#ended, progress];
  }

  /** Kills it (kill -9), and starts another at once; returns when that works. */
  async killAndStart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async kill(): Promise<void> {
    await this.#current.kill();
    this.#noteDeath();
  }

  /** Waits until it has died by itself, in the middle of its work. */
  async untilDead(): Promise<void> {
    await this.#current.gone;
    this.#noteDeath();
  }

  async start(): Promise<void> {
    this.#current = startProcess(this.#module, this.#folder, this.#inputOf(this.kills));
    await this.ready;
  }

  async stop(): Promise<void> {
    await this.#current.stop();
  }

  #noteDeath(): void {
    this.kills += 1;
    if (this.#current.progress !== undefined) this.#ended.push(this.#current.progress);
  }

  [Symbol.dispose](): void {
    this.#current[Symbol.dispose]();
  }
}
