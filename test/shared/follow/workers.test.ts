import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { Workers } from '../../../shared/follow/workers.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { openGate } from './support/gate.ts';
import { newDeeds, orderBreaks, sharedFollowed, startWorker, startWriting } from './support/followed-store.ts';
import { until } from '../../support/until.ts';

const SHARDS = 12;
const followed = await sharedFollowed(SHARDS);

describe('workers of a follower', () => {
  it('skip nothing and never set an offset back while they come and go, and one is paused', async () => {
    const deeds = newDeeds();
    const workers = [startWorker(followed, deeds)];
    const stopWriting = startWriting(followed, 4);
    const handlers = (from: number): Set<string> => new Set(deeds.handled.slice(from).map(({ owner }) => owner));
    await until('the first worker handles cells', () => deeds.handled.length > 50);
    workers.push(startWorker(followed, deeds), startWorker(followed, deeds));
    await until('all three handle cells', () => handlers(50).size === 3);
    const [first, second, third] = workers;

    // The second is paused for several silences, in the middle of whatever it does.
    if (second) second.gate.state = 'paused';
    const pausedAt = deeds.handled.length;
    await until('the others have every shard', () => {
      const since = deeds.handled.slice(pausedAt).filter(({ owner }) => owner !== second?.owner);
      return new Set(since.map(({ shard }) => shard)).size === SHARDS;
    });
    if (second) second.gate.state = 'open';
    const resumedAt = deeds.handled.length;
    await until('the second works again', () => handlers(resumedAt).has(second?.owner ?? ''));

    await Promise.all([second?.stop(), third?.stop()]);
    const aloneAt = deeds.handled.length;
    await until(
      'the first has every shard',
      () => new Set(deeds.handled.slice(aloneAt).map(({ shard }) => shard)).size === SHARDS,
    );
    await stopWriting();
    const stored = await followed.stored();
    await until('everything is handled', () => stored.every((cell) => deeds.names().has(cell)));
    await first?.stop();

    expect(deeds.commits.length).toBeGreaterThan(10);
    expect(deeds.backwards()).toBe(0);
    expect(deeds.eventsOf('cut')).toEqual([]);
    expect(orderBreaks(deeds.handled)).toBe(0);
  });
});

describe('the announcement of a worker', () => {
  const join = (
    stateTable: DynamoTable,
    workerGroup: string,
    owner: string,
    paused: (milliseconds: number) => void,
  ) => {
    let clockMs = 0;
    return new Workers({
      stateTable,
      workerGroup,
      owner,
      slot: 'only',
      heartbeatMs: 200,
      silenceMs: 60_000,
      now: () => clockMs,
      async pause(milliseconds) {
        clockMs += milliseconds;
        paused(milliseconds);
        await new Promise((resolve) => void setImmediate(resolve));
      },
    });
  };

  it('returns after others took it for dead, as the predecessor that it was', async () => {
    const [workerGroup, gate] = [randomUUID(), openGate()];
    const paused = join(gate.table(followed.stateTable), workerGroup, 'paused', () => undefined);
    await until('it is announced', () => paused.assignment(1).mine.length === 1);
    const next = join(followed.stateTable, workerGroup, 'next', () => undefined);
    await until('it is succeeded', () => paused.assignment(1).successor?.owner === 'next');
    gate.state = 'paused';
    await until('it is taken for dead', () => next.assignment(1).others.length === 0);
    gate.state = 'open';
    await until('it is back', () => paused.lives() === 2 && next.assignment(1).others.length === 1);
    expect([next.assignment(1).successor, paused.assignment(1).successor?.owner]).toEqual([undefined, 'next']);
    await Promise.all([paused.leave(), next.leave()]);
  });

  it('is made so rarely that DynamoDB takes all of them: of 128 workers, as 64 are while they hand over', async () => {
    const { client, table } = followed.stateTable;
    const workerGroup = randomUUID();
    const others = Array.from(
      { length: 127 },
      (_, n) => [`worker/${randomUUID()}`, JSON.stringify([String(n % 64), 1_000_000 + n, 12, true])] as const,
    );
    const Item = Object.fromEntries(others.map(([name, text]) => [name, { S: text }]));
    await client.send(new PutItemCommand({ TableName: table, Item: { pk: { S: `workers#${workerGroup}` }, ...Item } }));
    const bytes = others.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
    const kilobytes = Math.ceil((bytes * 128) / 127 / 1024);
    const pausesOf = async (name: string): Promise<readonly number[]> => {
      const pauses: number[] = [];
      const workers = join(followed.stateTable, name, randomUUID(), (milliseconds) => pauses.push(milliseconds));
      await until('it was announced again and again', () => pauses.length > 3);
      await workers.leave();
      return pauses;
    };
    expect((128 * kilobytes * 1000) / Math.min(...(await pausesOf(workerGroup)))).toBeLessThan(1000);
    expect(new Set(await pausesOf(randomUUID())), 'alone it is as quick as it was asked to be').toEqual(new Set([200]));
  });
});
