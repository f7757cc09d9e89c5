import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import {
  beginTakingBack,
  decideDeleting,
  forgetDatastore,
  markDeleting,
  readDeletionMark,
  takeMarkBack,
  type DeletionMark,
} from '../../../shared/topology/deletion-mark.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';

const DATASTORE = 'shop';
const client = dynamoClient(inject('servers').dynamo);
let table: DynamoTable;
let mark: DeletionMark;

afterAll(() => client.destroy());

beforeEach(async () => {
  table = await newTable(client);
  await listDatastore();
  mark = await markDeleting(table, DATASTORE, new Date('2026-01-01T00:00:00.000Z'));
});

const listDatastore = () =>
  client.send(new PutItemCommand({ TableName: table.table, Item: { pk: { S: `datastore#${DATASTORE}` } } }));
const read = () => readDeletionMark(table, DATASTORE);
const decide = () => decideDeleting(table, DATASTORE, mark);
const refused = { name: 'ConditionalCheckFailedException' };

describe('the mark of a deletion', () => {
  it('is not decided once it is being taken back: what it closed may be open already', async () => {
    await beginTakingBack(table, DATASTORE, mark);
    await expect(decide()).rejects.toMatchObject(refused);
    expect(await read()).toEqual({ ...mark, isTakenBack: true });
  });

  it('is not taken back once it is decided: what it was for may be gone already', async () => {
    await decide();
    await expect(beginTakingBack(table, DATASTORE, mark)).rejects.toMatchObject(refused);
    await expect(takeMarkBack(table, DATASTORE, mark)).rejects.toMatchObject(refused);
    expect(await read()).toEqual({ ...mark, isJudging: false });
  });

  it('is decided once, and by nobody who holds an earlier one', async () => {
    await takeMarkBack(table, DATASTORE, mark);
    const later = await markDeleting(table, DATASTORE, new Date('2026-01-02T00:00:00.000Z'));
    await expect(decide()).rejects.toMatchObject(refused);
    await decideDeleting(table, DATASTORE, later);
    await expect(decideDeleting(table, DATASTORE, later)).rejects.toMatchObject(refused);
  });

  it('is there once, and goes with its datastore, but not with one that was made since', async () => {
    await expect(markDeleting(table, DATASTORE)).rejects.toMatchObject(refused);
    await decide();
    await forgetDatastore(table, DATASTORE, mark);
    expect(await read()).toBeUndefined();
    await listDatastore();
    const later = await markDeleting(table, DATASTORE);
    await forgetDatastore(table, DATASTORE, mark);
    expect(await read()).toEqual(later);
  });
});
