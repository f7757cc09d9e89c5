import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { readState } from '../../../../shared/dynamo/state-table.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { triggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { dynamoClient } from '../../../support/dynamo.ts';
import { messageOf } from '../consume/support/stage.ts';
import { forEachTest, NAME } from './support/each-trigger.ts';

let table: DynamoTable;
forEachTest((made) => (table = made));

/** A client that does something else, once, before a certain request is sent. */
function interrupted(
  before: (request: Readonly<Record<string, unknown>>) => boolean,
  what: () => Promise<unknown>,
): DynamoDBClient {
  const slow = dynamoClient(inject('servers').dynamo);
  let done = false;
  slow.middlewareStack.add(
    (next) => async (args) => {
      if (!done && before(args.input as unknown as Readonly<Record<string, unknown>>)) {
        done = true;
        await what();
      }
      return next(args);
    },
    { step: 'initialize' },
  );
  return slow;
}

const isDelisting = ({ UpdateExpression: update }: Readonly<Record<string, unknown>>): boolean =>
  typeof update === 'string' && update.startsWith('DELETE');
const isListing = ({ UpdateExpression: update }: Readonly<Record<string, unknown>>): boolean =>
  typeof update === 'string' && update.includes('ADD');
const isDeletion = (request: Readonly<Record<string, unknown>>): boolean =>
  request['ConditionExpression'] === '#version = :seen' && request['UpdateExpression'] === undefined;
const isRead = (request: Readonly<Record<string, unknown>>): boolean => request['ConsistentRead'] === true;
type Moment = typeof isRead;
const of =
  (key: string, moment: Moment): Moment =>
  (request) =>
    moment(request) && JSON.stringify(request['Key']) === JSON.stringify({ pk: { S: key } });
const STATUS = 'trigger#trips#bill_rider';
const BLOCK = 'troubled#trips#bill_rider#block-0';
const SHARD = 'troubled#trips#bill_rider#5';

describe('a shard that becomes empty', () => {
  it.each([
    ['before it is read again', 5, of(BLOCK, isRead)],
    ['just before it would leave the list', 5, of(BLOCK, isDelisting)],
    ['just before its item would be deleted', 5, of(SHARD, isDeletion)],
    ['once it left the list, before its block is read again', 5, of(STATUS, isRead)],
    ['just before its block would leave the list', 5, of(STATUS, isDelisting)],
    ['just before its block would be deleted', 5, of(BLOCK, isDeletion)],
    ['of another shard, before its block is read again', 6, of(STATUS, isRead)],
    ['of another shard, just before their block would leave the list', 6, of(STATUS, isDelisting)],
    ['of another shard, just before their block would be deleted', 6, of(BLOCK, isDeletion)],
  ])('stays listed, or that other one, when a cell fails %s', async (_, shard, moment) => {
    const store = triggerStore(table, NAME);
    await store.failed(messageOf(5, 1), 'no', false);
    let came = 0;
    const slow = interrupted(moment, async () => (came = await store.failed(messageOf(shard, 2), 'no', false)));
    await triggerStore({ ...table, client: slow }, NAME).succeeded(messageOf(5, 1));
    slow.destroy();
    expect(came).toBe(1);
    expect(await store.troubled()).toEqual([shard]);
    expect((await store.shards([shard]))[0]?.cells.map(({ message }) => message.added_id)).toEqual([2]);
  });

  it('is listed when another cell failed while it left, and was written before', async () => {
    const store = triggerStore(table, NAME);
    await store.failed(messageOf(5, 1), 'no', false);
    const slow = interrupted(isListing, () => store.succeeded(messageOf(5, 1)));
    await triggerStore({ ...table, client: slow }, NAME).failed(messageOf(5, 2), 'no', false);
    slow.destroy();
    expect(await store.troubled()).toEqual([5]);
    expect((await store.shards([5]))[0]?.cells.map(({ message }) => message.added_id)).toEqual([2]);
  });
});

it('troubled shards make the item that all of a trigger write no larger: DynamoDB charges by the kilobyte', async () => {
  const store = triggerStore(table, NAME);
  const shards = Array.from({ length: 400 }, (_, shard) => shard);
  const left = [...shards];
  const mark = async (): Promise<void> => {
    for (let shard = left.pop(); shard !== undefined; shard = left.pop()) await store.mark(shard, 1);
  };
  await Promise.all(Array.from({ length: 8 }, mark));
  expect(JSON.stringify(await readState(table, STATUS)).length).toBeLessThan(500);
  expect(await store.troubled()).toEqual(shards);
});
