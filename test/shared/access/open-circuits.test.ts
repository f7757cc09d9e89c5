import { setImmediate as turn } from 'node:timers/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { openCircuits, type OpenCircuits } from '../../../shared/access/open-circuits.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';

let table: DynamoTable;
let time: number;
const asked = new Set<Promise<unknown>>();

beforeEach(async () => {
  table = watched(await newTable(dynamoClient(inject('servers').dynamo)));
  time = 1_000_000;
});

function watched({ client, table: name }: DynamoTable): DynamoTable {
  const send = (...given: unknown[]): Promise<unknown> => {
    const answer = (client.send as (...given: unknown[]) => Promise<unknown>).apply(client, given);
    asked.add(answer);
    return answer;
  };
  return { client: { send } as unknown as DynamoDBClient, table: name };
}

async function answered(): Promise<void> {
  await Promise.allSettled(asked);
  asked.clear();
  await turn();
}

const instance = () => openCircuits(table, () => time);

async function heard(circuits: OpenCircuits): Promise<string[]> {
  const news: string[] = [];
  circuits.poll(
    (group, role) => news.push(`${group} ${role}`),
    () => news.push('moved'),
  );
  await answered();
  return news;
}

describe('circuits that instances tell each other of', () => {
  it('are heard by the others once, and not by the one that told, as are shards that were moved', async () => {
    const [one, other] = [instance(), instance()];
    await heard(other);
    one.tell('group-1', 'writer');
    await answered();
    time += 3000;
    expect(await heard(other)).toEqual(['group-1 writer']);
    expect(await heard(one)).toEqual([]);
    time += 3000;
    expect(await heard(other)).toEqual([]);
    one.tell('group-1', 'writer');
    one.tell('group-2', 'reader');
    one.tellMoved();
    await answered();
    time += 3000;
    expect((await heard(other)).sort()).toEqual(['group-1 writer', 'group-2 reader', 'moved']);
    expect(await heard(one)).toEqual([]);
  });

  it('are no news to a new instance when they are old, and are when they are not', async () => {
    instance().tell('group-1', 'writer');
    await answered();
    time += 60_000;
    instance().tell('group-2', 'writer');
    await answered();
    expect(await heard(instance())).toEqual(['group-2 writer']);
  });

  it('are no news to an instance that polled before and slept through the outage', async () => {
    const slept = instance();
    await heard(slept);
    instance().tell('group-1', 'writer');
    await answered();
    time += 90_000;
    expect(await heard(slept)).toEqual([]);
    instance().tell('group-1', 'writer');
    await answered();
    time += 3000;
    expect(await heard(slept)).toEqual(['group-1 writer']);
  });

  it('are polled no more often than every two seconds', async () => {
    const [one, other] = [instance(), instance()];
    await heard(other);
    one.tell('group-1', 'writer');
    await answered();
    time += 500;
    expect(await heard(other)).toEqual([]);
  });

  it('harm no instance while the table is unavailable', async () => {
    const circuits = openCircuits(watched({ client: dynamoClient('http://127.0.0.1:9'), table: 'unavailable' }));
    circuits.tell('group-1', 'writer');
    expect(await heard(circuits)).toEqual([]);
  });
});
