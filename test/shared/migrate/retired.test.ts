import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { openContext } from '../../../shared/access/context.ts';
import { shardOf } from '../../../shared/address.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { indexOn } from '../../support/index-on.ts';
import { change, select } from '../../support/plain-sql.ts';
import {
  connect,
  defined,
  deploy,
  groups,
  indexStates,
  instance,
  keysOf,
  manageWith,
  ownTrigger,
  SEND,
  shop,
  topologyNow,
  triggersNow,
  useShop,
  desired,
} from './support/shop.ts';

useShop();

const SHARDS = 6;
const BY_BUYER = indexOn('by_buyer', { buyer: 'UUID' });
const buyer = '5d2c8a17-9e4b-4f36-a1d8-7c0e6b3f2a94';
const definition = () => desired(SHARDS, { indexes: [BY_BUYER], triggers: [ownTrigger()] });
const found = () => errorOf(() => instance(1).datastore(shop.name));

describe('a datastore that its deployment does not define any more', () => {
  it('is not found by requests, keeps its data, and goes on with it when it is defined again', async () => {
    await deploy([definition()]);
    const knowing = instance(1);
    const cell = cellOf({ body: { buyer } });
    await (await knowing.datastore(shop.name)).put(cell);
    await deploy();
    expect(await found()).toMatchObject({ code: 'unknown_datastore', status: 404 });
    expect(await instance(1).datastores()).toEqual([]);
    expect(await triggersNow()).toEqual([]);
    // An instance that has not heard of it yet: what it stores is kept.
    const late = cellOf({ body: { buyer } });
    expect(await (await knowing.datastore(shop.name)).put(late)).toMatchObject({ outcome: 'stored' });
    await deploy([definition()]);
    const trips = await instance(1).datastore(shop.name);
    for (const one of [cell, late]) expect((await trips.get(one)).cell?.body).toEqual(one.body);
    const { entries } = await trips.query({ index: 'by_buyer', where: { buyer } });
    expect(entries).toHaveLength(2);
    expect(await triggersNow()).toEqual([ownTrigger()]);
  });

  it('is refused with another number of shards, and stays as it is', async () => {
    await deploy([definition()]);
    const cell = cellOf();
    await (await instance(1).datastore(shop.name)).put(cell);
    await deploy();
    await expect(deploy([desired(SHARDS - 1)])).rejects.toThrow(
      `wanted its ${SHARDS} shards, fixed when it was created`,
    );
    expect(await errorOf(() => manageWith(1).apply(defined(SHARDS - 1), false))).toMatchObject({
      code: 'fixed_definition',
      field: 'shards',
      wanted: String(SHARDS),
      got: String(SHARDS - 1),
    });
    expect(await found()).toMatchObject({ code: 'unknown_datastore' });
    expect(await manageWith(1).apply(defined(SHARDS), false)).toMatchObject({
      done: true,
      changes: [{ name: shop.name, change: 'change' }],
    });
    expect((await (await instance(1).datastore(shop.name)).get(cell)).cell?.body).toEqual(cell.body);
  });

  it('gets what is buffered for it', async () => {
    await deploy([definition()]);
    const cell = cellOf();
    const shard = shardOf(cell.row_key, SHARDS);
    const holder = groups[(shard + 1) % groups.length];
    if (!holder) throw new Error('wanted another group');
    const client = connect(holder);
    await client.change(insertBuffered(shop.name, [copyOf(cell, shard)]));
    await deploy();
    const context = openContext({ topology: topologyNow(), connect, bufferCopies: 1 });
    const waiting = async () => {
      await drainAtOnce(context, holder.name);
      return select(client, 'SELECT id FROM schemaless.buffer WHERE datastore = ?', shop.name);
    };
    await expect.poll(waiting).toEqual([]);
    await context.groups.close();
    await client.close();
    await deploy([definition()]);
    expect((await (await instance(1).datastore(shop.name)).get(cell)).cell?.body).toEqual(cell.body);
  });

  it('takes the steps of the schema all the same', async () => {
    await deploy([definition()]);
    await deploy();
    const [group] = groups;
    if (!group) throw new Error('wanted a group');
    const client = connect(group);
    const steps = () => select(client, 'SELECT DISTINCT step FROM schemaless.shard WHERE datastore = ?', shop.name);
    const before = await steps();
    await change(client, 'UPDATE schemaless.shard SET step = 0 WHERE datastore = ?', shop.name);
    await deploy();
    expect(await steps()).toEqual(before);
    await client.close();
  });

  it('has what was applied to it again when it is back', async () => {
    await deploy([desired(SHARDS)]);
    await manageWith(1).apply(defined(SHARDS, { indexes: [BY_BUYER], triggers: [SEND] }), false);
    const made = await triggersNow();
    await deploy();
    expect(await triggersNow()).toEqual([]);
    await deploy([desired(SHARDS)]);
    expect(await triggersNow()).toEqual(made);
    expect(await indexStates()).toEqual([['by_buyer', 'building']]);
  });

  it('is dropped by the SQL and the items of the runbook, which frees its name for another number of shards', async () => {
    await deploy([definition()]);
    for (let cells = 0; cells < 10; cells += 1) await (await instance(1).datastore(shop.name)).put(cellOf());
    await deploy();
    const runbook = readFileSync(join(PROJECT_ROOT, 'infra/docs/operations/runbook.md'), 'utf8');
    const [, sql = ''] = /## Dropping a retired datastore.*?```sql\n(.*?)```/su.exec(runbook) ?? [];
    const [listing = '', ...deletions] = sql
      .trim()
      .replaceAll('shop', shop.name)
      .split(/;\s*(?=\n|$)/u);
    for (const group of groups) {
      const client = connect(group);
      const drops = (await select(client, listing)).map(([statement]) => String(statement));
      expect(drops).toHaveLength(SHARDS / groups.length);
      for (const statement of [...drops, ...deletions]) if (statement.trim() !== '') await change(client, statement);
      expect(await select(client, listing)).toEqual([]);
      await client.close();
    }
    for (const { client, table } of [shop.topologyTable, shop.stateTable])
      for (const pk of await keysOf({ client, table }))
        if (pk.split('#').includes(shop.name))
          await client.send(new DeleteItemCommand({ TableName: table, Key: { pk: { S: pk } } }));
    await deploy([desired(SHARDS + 3)]);
    expect(await (await instance(1).datastore(shop.name)).put(cellOf())).toMatchObject({
      outcome: 'stored',
      added_id: 1,
    });
  });
});
