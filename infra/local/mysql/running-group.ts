import { join } from 'node:path';
import type { Forwarder } from './forwarder.ts';
import { APPLICATION_USER } from './accounts.ts';
import { openOnOnePort } from './forwarder-processes.ts';
import { GroupRoles } from './group-roles.ts';
import { type GroupRecord, type GroupsFile, newGroup } from './groups-file.ts';
import { nodeName, type NodeStatus, SERVER_HOST } from './node-status.ts';
import { stopOrphans } from './orphans.ts';
import { mariaDbReplication } from './mariadb-replication.ts';
import { mySqlReplication } from './mysql-replication.ts';
import type { JudgeLogin } from './proxied-login.ts';
import { ServerNode, type ServerOptions } from './server-node.ts';
import { WorkInTurn } from './work-in-turn.ts';
import { messageOf } from '../message-of.ts';

const RETRY_MS = 1000;

interface RunningGroupOptions extends ServerOptions {
  readonly name: string;
  readonly readers: number;
  readonly folder: string;
  readonly file: GroupsFile;
  readonly restartAfterSeconds: number;
  /** By group, for groups behind a proxy; may change. */
  readonly logins: ReadonlyMap<string, JudgeLogin>;
  readonly log: (line: string) => void;
}

export class RunningGroup {
  readonly name: string;
  /** All rights, except writes on a reader. */
  readonly user: string = APPLICATION_USER;
  readonly password: string;
  readonly #options: RunningGroupOptions;
  readonly #nodes: readonly ServerNode[];
  readonly #record: GroupRecord;
  readonly #isNew: boolean;
  readonly #roles: GroupRoles;
  readonly #work = new WorkInTurn();
  #endpoints: readonly Forwarder[] = [];
  #nextReader = 0;

  constructor(options: RunningGroupOptions) {
    this.name = options.name;
    this.password = options.passwords.application;
    this.#options = options;
    const names = Array.from({ length: options.readers + 1 }, (_, nth) => nodeName(options.name, nth));
    const known = options.file.group(options.name);
    this.#isNew = known === undefined;
    this.#record = known ?? newGroup(names);
    this.#nodes = names.map(
      (name) =>
        new ServerNode({ ...options, name, folder: join(options.folder, name), died: (node) => this.#died(node) }),
    );
    this.#roles = new GroupRoles({
      group: options.name,
      record: this.#record,
      save: () => options.file.save(),
      nodes: this.#nodes,
      replication: options.engine.kind === 'mysql' ? mySqlReplication : mariaDbReplication,
      passwords: options.passwords,
      changed: options.changed,
      log: options.log,
    });
  }

  /** As of an Aurora cluster: a restored one has another. */
  get resourceId(): string {
    return `cluster-${this.name}-${this.#record.restores ?? 0}`;
  }

  /** Follows a promotion. */
  get writerEndpoint(): Forwarder {
    return this.#endpoint(0);
  }

  /** The port on another address: spreads over serving readers; without readers, to the writer. */
  get readerEndpoint(): Forwarder {
    return this.#endpoint(1);
  }

  get instanceEndpoints(): readonly Forwarder[] {
    return this.#endpoints.slice(2);
  }

  get nodes(): readonly NodeStatus[] {
    return this.#nodes.map((node) => ({
      group: this.name,
      node: node.name,
      role: node === this.#roles.writer ? 'writer' : 'reader',
      host: SERVER_HOST,
      port: node.port,
      pid: node.pid,
      state: node.state,
    }));
  }

  /** Shuts down servers that an earlier run left behind, then starts servers and endpoints. */
  async start(): Promise<void> {
    await this.#work.now(async () => {
      const orphans = await Promise.all(this.#nodes.map((node) => stopOrphans(node.data)));
      const count = orphans.reduce((sum, one) => sum + one, 0);
      if (count > 0)
        this.#options.log(
          `${this.name}: ${count} servers of an earlier run were still there; they were shut down and start again.`,
        );
      await this.#makeMissingData();
      await this.#openEndpoints();
      await Promise.all(this.#nodes.filter((node) => node.hasData).map((node) => this.#startFirst(node)));
      if (!this.#roles.writer.hasData) await this.#promote();
      await this.#arrangeFirst();
    });
  }

  node(name: string): ServerNode | undefined {
    return this.#nodes.find((node) => node.name === name);
  }

  /** Starts a dead node now. Throws if it has a process. */
  async restart(node: ServerNode): Promise<void> {
    if (node.pid !== 0) throw new Error(`${node.name} is ${node.state}: only a node that is down can be started`);
    this.#work.cancel(node.name);
    await this.#work.now(async () => await this.#bringUp(node));
  }

  resume(node: ServerNode): void {
    node.resume();
    this.#arrangeLater(0);
  }

  /** Returns when the new writer takes writes; the old one returns later as a reader. */
  async promote(): Promise<void> {
    await this.#work.now(async () => await this.#promote());
  }

  async position(): Promise<string> {
    return this.#roles.position();
  }

  /** See `GroupRoles.restored`; the other nodes return later. */
  async restore(position: string, marked?: string): Promise<void> {
    await this.#work.now(async () => {
      try {
        await this.#roles.restore(position, marked);
      } finally {
        this.#dropClients();
        for (const node of this.#nodes) if (node.pid === 0) this.#bringUpLater(node, 0);
        this.#arrangeLater(0);
      }
    });
  }

  async stop(): Promise<void> {
    this.#work.end();
    const endpoints = Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
    const stopAll = () => Promise.all(this.#nodes.map((node) => node.stop()));
    await stopAll();
    // Open work may have started one more server.
    await this.#work.settled();
    await stopAll();
    await endpoints;
  }

  /** A reader of an existing group may fail without stopping the group. */
  async #startFirst(node: ServerNode): Promise<void> {
    try {
      await this.#roles.startServer(node);
    } catch (error) {
      if (this.#isNew || node === this.#roles.writer)
        throw new Error(`${node.name}: ${messageOf(error)}`, { cause: error });
      this.#failed(node, error);
    }
  }

  async #arrangeFirst(): Promise<void> {
    try {
      await this.#roles.arrange();
    } catch (error) {
      if (this.#isNew || !this.#roles.takesWrites) throw error;
      this.#arrangeLater(RETRY_MS);
    }
  }

  async #promote(): Promise<void> {
    const old = this.#roles.writer;
    const oldPid = old.pid;
    await this.#roles.promote().finally(() => {
      // It was killed for this, so it returns regardless of `restartAfterSeconds`.
      if (oldPid !== 0 && old.pid === 0) this.#bringUpLater(old, 0);
    });
    this.#dropClients();
    this.#bringUpLater(old, 0);
    this.#arrangeLater(0);
  }

  async #makeMissingData(): Promise<void> {
    const { writer } = this.#roles;
    for (const node of this.#nodes) {
      if (this.#isNew) await node.makeData();
      else if (node !== writer && (!this.#record.nodes.includes(node.name) || !node.hasData))
        await this.#roles.rebuild(node);
    }
    this.#record.nodes = this.#nodes.map((node) => node.name);
    this.#options.file.add(this.name, this.#record);
  }

  async #openEndpoints(): Promise<void> {
    const { file, logins } = this.#options;
    const isServing = (node: ServerNode) => node.state === 'running';
    const address = (node: ServerNode | undefined) =>
      node && { host: SERVER_HOST, port: node.port, password: logins.has(this.name) ? this.password : undefined };
    const nextReader = () => {
      // A group without readers answers reads from its writer, as a managed cluster does.
      const serving = (this.#nodes.length === 1 ? this.#nodes : this.#roles.readers).filter(isServing);
      this.#nextReader += 1;
      return address(serving[this.#nextReader % Math.max(1, serving.length)]);
    };
    const targets = [
      () => address(this.#roles.takesWrites ? this.#roles.writer : undefined),
      nextReader,
      ...this.#nodes.map((node) => () => address([node].find(isServing))),
    ];
    this.#endpoints = await openOnOnePort(
      targets.map((target, nth) => ({
        host: file.address(this.name, nth),
        target,
        judge: (user, token) => logins.get(this.name)?.(user, token),
      })),
      this.#record.port,
    );
    this.#record.port = this.writerEndpoint.port;
    file.save();
  }

  async #bringUp(node: ServerNode): Promise<void> {
    if (this.#work.hasEnded || node.pid !== 0) return;
    if (!node.hasData) {
      if (node === this.#roles.writer)
        throw new Error(`${node.name} is the writer of ${this.name} and its data folder is gone: promote ${this.name}`);
      this.#options.log(`${this.name}: the data of ${node.name} is gone. It is rebuilt from the writer's log.`);
      await this.#roles.rebuild(node);
    }
    await this.#roles.startServer(node);
    this.#arrangeLater(0);
  }

  #died(node: ServerNode): void {
    if (this.#work.hasEnded) return;
    const { restartAfterSeconds: seconds, log } = this.#options;
    log(`${this.name}: the server of ${node.name} died${seconds > 0 ? `; it starts again in ${seconds} s` : ''}.`);
    if (seconds > 0) this.#bringUpLater(node, seconds * 1000);
  }

  #bringUpLater(node: ServerNode, afterMs: number): void {
    this.#work.later(node.name, afterMs, async () => {
      try {
        await this.#bringUp(node);
      } catch (error) {
        this.#failed(node, error);
      }
    });
  }

  #failed(node: ServerNode, error: unknown): void {
    if (this.#work.hasEnded) return;
    const { restartAfterSeconds: seconds, log } = this.#options;
    log(`${this.name}: ${node.name} did not start: ${messageOf(error)}`);
    if (seconds > 0 && node.hasData) this.#bringUpLater(node, seconds * 1000);
  }

  #arrangeLater(afterMs: number): void {
    this.#work.later('roles', afterMs, async () => {
      try {
        await this.#roles.arrange();
      } catch (error) {
        if (!this.#work.hasEnded)
          this.#options.log(`${this.name}: roles are given again in ${RETRY_MS / 1000} s: ${messageOf(error)}`);
        this.#arrangeLater(RETRY_MS);
      }
    });
  }

  #dropClients(): void {
    this.writerEndpoint.dropConnections();
    this.readerEndpoint.dropConnections();
  }

  #endpoint(nth: number): Forwarder {
    const endpoint = this.#endpoints[nth];
    if (endpoint === undefined) throw new Error(`${this.name} has not been started`);
    return endpoint;
  }
}
