import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { openCircuits, type OpenCircuits } from '../../../shared/access/open-circuits.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';

let table: DynamoTable;
let time: number;

beforeEach(async () => {
  table = await newTable(dynamoClient(inject('servers').dynamo));
  time = 1_000_000;
});

const instance = () => openCircuits(table, () => time);

/** What an instance hears when it looks now. */
async function heard(circuits: OpenCircuits): Promise<string[]> {
  const news: string[] = [];
  circuits.look((group, role) => news.push(`${group} ${role}`));
  await sleep(150);
  return news;
}

describe('circuits that instances tell each other of', () => {
  it('are heard by the others once, and not by the one that told', async () => {
    const [one, other] = [instance(), instance()];
    await heard(other);
    one.tell('group-1', 'writer');
    await sleep(100);
    time += 3000;
    expect(await heard(other)).toEqual(['group-1 writer']);
    expect(await heard(one)).toEqual([]);
    time += 3000;
    expect(await heard(other)).toEqual([]);
    one.tell('group-1', 'writer');
    one.tell('group-2', 'reader');
    await sleep(100);
    time += 3000;
    expect((await heard(other)).sort()).toEqual(['group-1 writer', 'group-2 reader']);
  });

  it('are no news to a new instance when they are old, and are when they are not', async () => {
    instance().tell('group-1', 'writer');
    await sleep(100);
    time += 60_000;
    instance().tell('group-2', 'writer');
    await sleep(100);
    expect(await heard(instance())).toEqual(['group-2 writer']);
  });

  it('are no news to an instance that looked before and slept through the outage', async () => {
    const slept = instance();
    await heard(slept);
    instance().tell('group-1', 'writer');
    await sleep(100);
    time += 90_000;
    expect(await heard(slept)).toEqual([]);
    instance().tell('group-1', 'writer');
    await sleep(100);
    time += 3000;
    expect(await heard(slept)).toEqual(['group-1 writer']);
  });

  it('are looked for no more often than every two seconds', async () => {
    const [one, other] = [instance(), instance()];
    await heard(other);
    one.tell('group-1', 'writer');
    await sleep(100);
    time += 500;
    expect(await heard(other)).toEqual([]);
  });

  it('harm nobody while the table is away', async () => {
    const circuits = openCircuits({ client: dynamoClient('http://127.0.0.1:9'), table: 'away' });
    circuits.tell('group-1', 'writer');
    expect(await heard(circuits)).toEqual([]);
  });
});
