import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { accountsSql, type Passwords } from './accounts.ts';
import { copyBlankData } from './blank-data.ts';
import { launch, type RunningServer, stopServer } from './launch.ts';
import type { NodeState } from './node-status.ts';
import { asOperator, type Operator } from './operator.ts';
import {
  accountsFile,
  dataFolder,
  serverArguments,
  serverEnvironment,
  type ServerSettings,
  temporaryFolder,
} from './server-settings.ts';

/** The settings that create and start servers of a stack. */
export interface ServerOptions extends ServerSettings {
  /** An empty data folder, to be copied. */
  readonly blank: string;
  readonly passwords: Passwords;
  readonly changed: () => void;
}

interface ServerNodeOptions extends ServerOptions {
  readonly name: string;
  readonly folder: string;
  readonly died: (node: ServerNode) => void;
}

/** One server of a group: its data and its process, whatever its role. */
export class ServerNode {
  readonly name: string;
  readonly data: string;
  readonly #options: ServerNodeOptions;
  #state: NodeState = 'down';
  #stateBeforePause: NodeState = 'down';
  #server: RunningServer | undefined;
  #port = 0;
  /** True while the end of the process is intended, or `launch` sees it. */
  #endIsExpected = false;

  constructor(options: ServerNodeOptions) {
    this.name = options.name;
    this.data = dataFolder(options.folder);
    this.#options = options;
  }

  get state(): NodeState {
    return this.#state;
  }

  /** Kept over restarts, unless another process took it. */
  get port(): number {
    return this.#port;
  }

  get pid(): number {
    return this.#server?.isRunning() === true ? this.#server.pid : 0;
  }

  get hasData(): boolean {
    return existsSync(this.data);
  }

  /** True if its server would answer a statement, even before it may serve. */
  get answers(): boolean {
    return this.pid !== 0 && this.#state !== 'paused' && !this.#endIsExpected;
  }

  /** Replaces its data by the empty folder. The server must not run. */
  async makeData(): Promise<void> {
    await rm(this.data, { recursive: true, force: true });
    await copyBlankData(this.#options.blank, this.data, this.#options.size);
  }

  /** Starts the server read-only and without replication; `starting` until `serve`. */
  async start(serverId: number): Promise<void> {
    const { engine, folder, passwords, size } = this.#options;
    // MySQL's replication does not start on a trial file left by a killed server.
    rmSync(temporaryFolder(folder), { recursive: true, force: true });
    mkdirSync(temporaryFolder(folder), { recursive: true, mode: 0o700 });
    const accounts = accountsFile(folder);
    writeFileSync(accounts, accountsSql(engine, passwords), { mode: 0o600 });
    this.#endIsExpected = true;
    this.#become('starting');
    try {
      const server = await launch({
        command: engine.command,
        folder,
        port: this.#port,
        argumentsFor: (port) => serverArguments(this.#options, { folder, port, serverId }),
        environment: serverEnvironment(size),
        answers: async (port) =>
          await asOperator(port, passwords.operator, async (operator) => {
            await operator.run('SELECT 1');
          }),
        started: (started) => {
          this.#server = started;
          this.#port = started.port;
        },
      });
      this.#endIsExpected = false;
      void server.exited.then(() => this.#ended(server));
    } catch (error) {
      this.#become('down');
      throw error;
    } finally {
      await rm(accounts, { force: true });
    }
  }

  /** Allows its use in its role. */
  serve(): void {
    if (this.#state === 'starting' && this.answers) this.#become('running');
    else if (this.#state === 'paused') this.#stateBeforePause = 'running';
  }

  async operate<T>(work: (operator: Operator) => Promise<T>): Promise<T> {
    return await asOperator(this.#port, this.#options.passwords.operator, work);
  }

  /** Sends SIGKILL and waits for the end. Throws without a process. */
  async kill(): Promise<void> {
    const server = this.#alive();
    server.signal('SIGKILL');
    await server.exited;
  }

  /** Kills without reporting a death. */
  async fence(): Promise<void> {
    this.#endIsExpected = true;
    this.#server?.signal('SIGKILL');
    await this.#server?.exited;
    this.#become('down');
  }

  /** Shuts down cleanly, even during the start. */
  async stop(): Promise<void> {
    this.#endIsExpected = true;
    if (this.#server !== undefined) await stopServer(this.#server);
    this.#become('down');
  }

  pause(): void {
    const server = this.#alive();
    if (this.#state === 'paused') return;
    server.signal('SIGSTOP');
    this.#stateBeforePause = this.#state;
    this.#become('paused');
  }

  resume(): void {
    const server = this.#alive();
    if (this.#state !== 'paused') return;
    server.signal('SIGCONT');
    this.#become(this.#stateBeforePause);
  }

  #alive(): RunningServer {
    if (this.#server === undefined || this.pid === 0) throw new Error(`${this.name} is down: it has no process`);
    return this.#server;
  }

  #ended(server: RunningServer): void {
    if (this.#server !== server || this.#endIsExpected) return;
    this.#become('down');
    this.#options.died(this);
  }

  #become(state: NodeState): void {
    this.#state = state;
    this.#options.changed();
  }
}
