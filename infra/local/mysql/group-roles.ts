import { setTimeout as sleep } from 'node:timers/promises';
import { type Passwords, REPLICATION_USER } from './accounts.ts';
import { type GroupRecord, takeServerId } from './groups-file.ts';
import { SERVER_HOST } from './node-status.ts';
import { finish, stopFollowing, type Replication } from './replication.ts';
import type { ServerNode } from './server-node.ts';

/** How long a reader may take to apply what it has received. */
const APPLY_SECONDS = 60;
const CATCH_UP_POLL_MS = 100;
/** How long a node may take to apply a whole log. */
const REPLAY_SECONDS = 1800;

interface GroupRolesOptions {
  readonly group: string;
  readonly record: GroupRecord;
  readonly save: () => void;
  readonly nodes: readonly ServerNode[];
  readonly replication: Replication;
  readonly passwords: Passwords;
  readonly changed: () => void;
  readonly log: (line: string) => void;
}

/** Gives a group's nodes their roles, one call at a time. A diverged reader is rebuilt before it follows. */
export class GroupRoles {
  readonly #options: GroupRolesOptions;
  #openedPid = 0;
  readonly #followed = new Map<string, string>();

  constructor(options: GroupRolesOptions) {
    this.#options = options;
  }

  get writer(): ServerNode {
    const { nodes, record } = this.#options;
    const writer = nodes.find((node) => node.name === record.writer);
    if (writer === undefined)
      throw new Error(`${this.#options.group}: its writer ${record.writer} is not one of its nodes`);
    return writer;
  }

  /** False between the death of the writer's server and the opening of a writer. */
  get takesWrites(): boolean {
    return this.writer.pid === this.#openedPid && this.writer.state === 'running';
  }

  get readers(): readonly ServerNode[] {
    return this.#options.nodes.filter((node) => node !== this.writer);
  }

  /** True once the node's log is part of the writer's and reached its end. */
  isTrusted(node: ServerNode): boolean {
    return !this.#options.record.untrusted.includes(node.name);
  }

  /** Brings every answering node into its role. Tries all, then rejects with an error. */
  async arrange(): Promise<void> {
    const { writer } = this;
    if (!writer.answers) return;
    if (this.#openedPid !== writer.pid) await this.#open(writer);
    const ends = await Promise.allSettled(
      this.readers
        .filter((node) => node.answers)
        .map(async (node) => {
          if (this.#followed.get(node.name) !== pair(node, writer)) await this.#follow(node, writer);
        }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** Gives the node empty data and a new server id; it replays the writer's whole log. */
  async rebuild(node: ServerNode): Promise<void> {
    await node.fence();
    await node.makeData();
    takeServerId(this.#options.record, node.name);
    this.#distrust(node);
  }

  async startServer(node: ServerNode): Promise<void> {
    await node.start(this.#serverId(node));
    if (node !== this.writer && this.isTrusted(node)) node.serve();
  }

  /** Kills the writer and promotes the most advanced reader, once it has applied all. Throws if none can take over. */
  async promote(): Promise<void> {
    const { group, record, replication, log } = this.#options;
    const candidates = this.readers.filter((node) => node.state === 'running');
    if (candidates.length === 0) {
      const states = this.readers.map((node) => `${node.name} is ${node.state}`).join(', ');
      throw new Error(`${group} has no reader that could be promoted: ${states === '' ? 'it has no readers' : states}`);
    }
    const old = this.writer;
    await old.fence();
    const ready = await Promise.allSettled(
      candidates.map((node) =>
        node.operate(async (operator) => {
          await finish(replication, operator, APPLY_SECONDS);
          return { node, size: replication.size(await replication.executed(operator)) };
        }),
      ),
    );
    for (const node of candidates) this.#followed.delete(node.name);
    const [best] = ready
      .flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
      .toSorted((one, other) => other.size - one.size);
    if (best === undefined)
      throw new Error(
        `${group} has no reader that could be promoted: ${ready.map((end) => (end.status === 'rejected' ? String(end.reason) : '')).join('; ')}`,
      );
    record.writer = best.node.name;
    takeServerId(record, best.node.name);
    this.#distrust(old);
    log(`${group}: ${best.node.name} is promoted to writer in place of ${old.name}.`);
    await this.#open(best.node);
    this.#options.changed();
  }

  /** Returns where the writer's log ends: what `restored` takes. */
  async position(): Promise<string> {
    return this.writer.operate(async (operator) => this.#options.replication.position(operator));
  }

  /**
   * Restores the group to a position of its log: a reader is rebuilt up to there and becomes the writer, then the
   * others are rebuilt from it. Later writes are lost. Throws, with the writer unchanged, if the position cannot be
   * reached. `marked`: a statement that runs on the node before it is the writer.
   */
  async restore(position: string, marked?: string): Promise<void> {
    const { group, record, replication, passwords, log } = this.#options;
    const old = this.writer;
    if (!this.takesWrites)
      throw new Error(`${group}: its writer ${old.name} is ${old.state}, and has the log to go by`);
    const [node] = this.readers;
    if (!node) throw new Error(`${group} has no reader: wanted one, to rebuild it from the writer's log`);
    const isThere = await old.operate(async (operator) =>
      replication.includes(operator, await replication.executed(operator), position),
    );
    if (!isThere) throw new Error(`${group}: its log does not have ${position}: it was restored to before that`);
    this.#followed.delete(node.name);
    await this.rebuild(node);
    await this.startServer(node);
    const source = { host: SERVER_HOST, port: old.port, user: REPLICATION_USER, password: passwords.replication };
    await node.operate(async (operator) => replication.followUntil(operator, source, position, REPLAY_SECONDS));
    if (marked !== undefined)
      await node.operate(async (operator) => {
        await replication.open(operator, this.#serverId(node));
        await operator.run(marked);
      });
    for (const other of [old, ...this.readers.filter((reader) => reader !== node)]) {
      await other.fence();
      this.#distrust(other);
    }
    this.#followed.clear();
    record.writer = node.name;
    record.restores = (record.restores ?? 0) + 1;
    record.untrusted = record.untrusted.filter((name) => name !== node.name);
    this.#options.save();
    log(`${group}: ${node.name} is its writer, with what ${old.name} had been given up to ${position}.`);
    await this.#open(node);
    this.#options.changed();
  }

  #serverId(node: ServerNode): number {
    const { record, save } = this.#options;
    const known = record.serverIds[node.name];
    if (known !== undefined) return known;
    const serverId = takeServerId(record, node.name);
    save();
    return serverId;
  }

  async #open(node: ServerNode): Promise<void> {
    const { pid } = node;
    await node.operate(async (operator) => await this.#options.replication.open(operator, this.#serverId(node)));
    this.#openedPid = pid;
    node.serve();
  }

  async #follow(node: ServerNode, writer: ServerNode): Promise<void> {
    const { group, replication, passwords, log } = this.#options;
    const processes = pair(node, writer);
    const source = { host: SERVER_HOST, port: writer.port, user: REPLICATION_USER, password: passwords.replication };
    const target = await writer.operate(
      async (atWriter) =>
        await node.operate(async (atNode) => {
          await stopFollowing(replication, atNode);
          const executed = await replication.executed(atNode);
          const whole = await replication.executed(atWriter);
          if (!(await replication.includes(atWriter, whole, executed))) return undefined;
          await replication.follow(atNode, source);
          return whole;
        }),
    );
    if (target === undefined) {
      log(
        `${group}: ${node.name} holds transactions that the writer ${writer.name} lacks. It is rebuilt from the writer's log.`,
      );
      await this.rebuild(node);
      await this.startServer(node);
      await this.#follow(node, writer);
      return;
    }
    this.#followed.set(node.name, processes);
    if (!this.isTrusted(node)) void this.#serveOnceAt(node, target, processes);
  }

  /** Waits until the reader has all of `target`; ends if either process does. */
  async #serveOnceAt(node: ServerNode, target: string, processes: string): Promise<void> {
    const { group, record, replication, save, log } = this.#options;
    while (pair(node, this.writer) === processes && this.#followed.get(node.name) === processes) {
      const isThere =
        node.answers &&
        (await node
          .operate(async (operator) => replication.includes(operator, await replication.executed(operator), target))
          .catch(() => false));
      if (isThere && pair(node, this.writer) === processes) {
        record.untrusted = record.untrusted.filter((name) => name !== node.name);
        save();
        node.serve();
        log(`${group}: ${node.name} has caught up with ${this.writer.name}.`);
        return;
      }
      await sleep(CATCH_UP_POLL_MS);
    }
  }

  /** Persisted: an untrusted node must neither serve reads nor be promoted. */
  #distrust(node: ServerNode): void {
    const { record, save } = this.#options;
    record.untrusted = [...record.untrusted.filter((name) => name !== node.name), node.name];
    save();
  }
}

function pair(node: ServerNode, writer: ServerNode): string {
  return `${node.pid} follows ${writer.pid}`;
}
