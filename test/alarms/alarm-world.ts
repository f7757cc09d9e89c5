import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection } from 'mysql2/promise';
import { sendCommand } from '../../infra/local/control/control-client.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { shardOf } from '../../shared/address.ts';
import type { AlarmDefinition } from './alarm.ts';

interface AlarmWorldParts {
  readonly stack: LocalStack;
  readonly data: string;
  readonly alarms: readonly AlarmDefinition[];
  readonly deploy: (schedules: 'on' | 'off') => Promise<void>;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What faults and cures are done with: what the runbook's reader has, and what a machine lets anybody do. */
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

  async ask(method: 'GET' | 'PUT' | 'POST', path: string, body?: object | string): Promise<Answer> {
    const response = await fetch(`${this.stack.url}/v1${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, body: Object(await response.json()) };
  }

  /** As `ask`; what is answered `later` is asked again, as clients do. @throws Error that has the answer, for any but a good one */
  async mustAsk(...asked: Parameters<AlarmWorld['ask']>): Promise<Answer['body']> {
    let { status, body } = await this.ask(...asked);
    for (let tries = 1; body['retry'] === 'later' && tries < 60; tries += 1) {
      await this.wait(1);
      ({ status, body } = await this.ask(...asked));
    }
    if (status >= 300) throw new Error(`${asked[0]} ${asked[1]}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** A new row key whose shard lies in a group, and the shard. */
  async rowIn(group: string, datastore = 'trips'): Promise<{ readonly row: string; readonly shard: number }> {
    // The function that answers may just be ended by another fault.
    const { shards } = await this.insist(() => this.mustAsk('GET', `/${datastore}/shards`));
    const homes = (shards as readonly { readonly shard: number; readonly group: string }[]).map((head) => head.group);
    for (;;) {
      const row = randomUUID();
      const shard = shardOf(row, homes.length);
      if (homes[shard] === group) return { row, shard };
    }
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
    const writer = this.stack.groups.status().find((node) => node.group === group && node.role === 'writer');
    if (!writer) throw new Error(`${group} has no writer`);
    return writer.node;
  }

  async wait(seconds: number): Promise<void> {
    await sleep(seconds * 1000, undefined, { signal: this.signal });
  }

  /** Does something again and again, whatever comes of it, until the function that is returned is called. */
  again(everySeconds: number, work: () => Promise<unknown>): () => Promise<void> {
    const ending = new AbortController();
    const signal = AbortSignal.any([this.signal, ending.signal]);
    const going = (async (): Promise<void> => {
      while (!signal.aborted) {
        await work().catch(() => undefined);
        await sleep(everySeconds * 1000, undefined, { signal }).catch(() => undefined);
      }
    })();
    return () => {
      ending.abort();
      return going;
    };
  }

  /** Tries something again and again until it succeeds. @throws what it throws in the end, after a minute */
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
