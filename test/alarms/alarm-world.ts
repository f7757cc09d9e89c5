import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection } from 'mysql2/promise';
import { sendCommand } from '../../infra/local/control/control-client.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { repeat } from '../../shared/repeat.ts';
import { untilEnd } from '../../shared/until-end.ts';
import { nodeOf } from '../support/nodes.ts';
import { operatorsClient, type OperatorsClient } from '../support/operators-client.ts';
import { rowIn } from '../support/row-in.ts';
import type { AlarmDefinition } from './alarm.ts';

interface AlarmWorldParts {
  readonly stack: LocalStack;
  readonly data: string;
  readonly alarms: readonly AlarmDefinition[];
  readonly deploy: (schedules: 'on' | 'off') => Promise<void>;
  readonly signal: AbortSignal;
}

/** The tools of faults and fixes: those of the runbook's reader, and those that one machine allows. */
export class AlarmWorld {
  readonly stack: LocalStack;
  readonly alarms: readonly AlarmDefinition[];
  readonly deploy: AlarmWorldParts['deploy'];
  readonly signal: AbortSignal;
  readonly #data: string;

  constructor(parts: AlarmWorldParts) {
    ({ stack: this.stack, alarms: this.alarms, deploy: this.deploy, signal: this.signal, data: this.#data } = parts);
  }

  local(command: string, argument: string): Promise<unknown> {
    return sendCommand(this.#data, command, argument);
  }

  /** The operations on a datastore; each is repeated while that may help, as clients do. */
  of(datastore: string): OperatorsClient {
    return operatorsClient({ url: this.stack.url, datastore, deadlineMs: 60_000, signal: this.signal });
  }

  /** The same, each sent once, whatever comes of it. */
  once(datastore: string): OperatorsClient {
    return operatorsClient({ url: this.stack.url, datastore, attempts: 1, signal: this.signal });
  }

  /** A new row key whose shard lies in a group, and the shard. */
  async rowIn(group: string, datastore = 'trips'): Promise<{ readonly row: string; readonly shard: number }> {
    // The function that answers may just be ended by another fault.
    return rowIn(await this.insist(() => this.of(datastore).heads()), group);
  }

  /** A connection of a group's owner, past the store. */
  async connect(group: string, role: 'writer' | 'reader' = 'writer'): Promise<Connection> {
    const found = this.stack.endpoints.groups.find(({ name }) => name === group);
    const node = role === 'writer' ? found?.writer : found?.readers[0];
    if (!node) throw new Error(`${group} has no ${role}`);
    const { host, port, user, password } = node;
    const connection = await createConnection({ host, port, user, password });
    // Its server may be killed.
    connection.on('error', () => undefined);
    return connection;
  }

  async sql(group: string, text: string, parameters: readonly (string | number | Buffer)[] = []): Promise<void> {
    const connection = await this.connect(group);
    try {
      await connection.query(text, [...parameters]);
    } finally {
      await connection.end();
    }
  }

  writerOf(group: string): string {
    return nodeOf(this.stack.groups, group).node;
  }

  async wait(seconds: number): Promise<void> {
    await sleep(seconds * 1000, undefined, { signal: this.signal });
  }

  /** Does something again and again, whatever comes of it, until the function that is returned is called. */
  again(everySeconds: number, work: () => Promise<unknown>): () => Promise<void> {
    const { signal, end } = untilEnd(this.signal);
    const turn = async (): Promise<void> => void (await work());
    const going = repeat({ turn, everyMs: everySeconds * 1000, failed: () => undefined }, signal);
    return () => {
      end();
      return going;
    };
  }

  /** Retries a call until it succeeds. @throws its last error, after a minute */
  async insist<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (tries === 60) throw error;
        await this.wait(1);
      }
    }
  }
}
