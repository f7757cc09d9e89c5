import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, inject, it } from 'vitest';
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
  typeof update === 'string' && update.startsWith('ADD');
const isDeletion = (request: Readonly<Record<string, unknown>>): boolean =>
  request['ConditionExpression'] === '#version = :seen' && request['UpdateExpression'] === undefined;
const readsStatus = (request: Readonly<Record<string, unknown>>): boolean =>
  request['ConsistentRead'] === true && JSON.stringify(request['Key']).includes('"trigger#trips#bill_rider"');

describe('a shard that becomes empty', () => {
  it.each([
    ['before it is looked at again', readsStatus],
    ['just before it would leave the list', isDelisting],
    ['just before its item would be deleted', isDeletion],
  ])('stays listed when another cell fails %s', async (_, moment) => {
    const store = triggerStore(table, NAME);
    await store.failed(messageOf(5, 1), 'no', false);
    let came = 0;
    const slow = interrupted(moment, async () => (came = await store.failed(messageOf(5, 2), 'no', false)));
    await triggerStore({ ...table, client: slow }, NAME).succeeded(messageOf(5, 1));
    slow.destroy();
    expect(came).toBe(1);
    expect((await store.status()).troubled).toEqual([5]);
    expect((await store.shards([5]))[0]?.cells.map(({ message }) => message.added_id)).toEqual([2]);
  });

  it('is listed when another cell failed while it left, and was written before', async () => {
    const store = triggerStore(table, NAME);
    await store.failed(messageOf(5, 1), 'no', false);
    const slow = interrupted(isListing, () => store.succeeded(messageOf(5, 1)));
    await triggerStore({ ...table, client: slow }, NAME).failed(messageOf(5, 2), 'no', false);
    slow.destroy();
    expect((await store.status()).troubled).toEqual([5]);
    expect((await store.shards([5]))[0]?.cells.map(({ message }) => message.added_id)).toEqual([2]);
  });
});
