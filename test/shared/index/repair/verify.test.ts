import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rowKeyBytes } from '../../../../shared/address.ts';
import { decodeBody, encodeBody } from '../../../../shared/body/codec.ts';
import type { Json } from '../../../../shared/cell.ts';
import { readState, updateState } from '../../../../shared/dynamo/state-table.ts';
import { indexTable } from '../../../../shared/index/index-table.ts';
import type { Statement } from '../../../../shared/sql/client.ts';
import type { VerifyLocation } from '../../../../shared/index/verify.ts';
import { putEntries } from '../../../../shared/index/statements/put-entries.ts';
import { rowsOfShard } from '../../../support/datastore-conformance.ts';
import { change, select, sql } from '../../../support/plain-sql.ts';
import { until } from '../../../support/until.ts';
import { countKinds, sharedIndexed } from './support/indexed-store.ts';
import { shardOfValue } from '../../../../shared/definitions/field-value.ts';

const SHARDS = 4;
const NONE = { missing: 0, extra: 0, wrong: 0 };
const indexed = await sharedIndexed(SHARDS);
const index = await indexed.live();

const shardOf = (driver: string): number => shardOfValue(driver, 'UUID', SHARDS);

describe('verification', () => {
  it('finds entries that are missing, extra and wrong, and repairs them', async () => {
    const trips = Array.from({ length: 50 }, () => ({
      row_key: randomUUID(),
      body: { driver: randomUUID(), city: 'Faro' },
    }));
    await indexed.write(trips);
    // A write waits for its entries for a moment only.
    await expect.poll(() => indexed.problems()).toEqual([]);
    const [lost, moved, altered] = trips;
    if (!lost || !moved || !altered) throw new Error('three trips');
    const stranger = randomUUID();
    const at = async (driver: string, statement: Statement): Promise<void> => {
      expect(await indexed.client(shardOf(driver)).change(statement)).toMatchObject({ affectedRows: 1 });
    };
    const tableOf = (driver: string): string => indexTable(indexed.datastore, shardOf(driver), index);
    const [gone, other] = [lost.body.driver, altered.body.driver];
    await at(gone, sql(`DELETE FROM ${tableOf(gone)} WHERE f0 = ?`, rowKeyBytes(gone)));
    await at(other, sql(`UPDATE ${tableOf(other)} SET f1 = 'Lagos' WHERE f0 = ?`, rowKeyBytes(other)));
    const version = { epoch: 1, added_id: 1 };
    const entry = { row_key: moved.row_key, values: [stranger, null, null], tombstone: false, version };
    await at(stranger, putEntries(indexed.datastore, shardOf(stranger), index, [entry]));

    const planted = [
      { kind: 'extra', row_key: moved.row_key, value: stranger },
      { kind: 'missing', row_key: lost.row_key, value: lost.body.driver },
      { kind: 'wrong', row_key: altered.row_key, value: altered.body.driver },
    ];
    const found = async (repair: boolean) =>
      [...(await indexed.problems('drivers', repair))].sort((a, b) => (a.kind < b.kind ? -1 : 1));
    expect(await found(false)).toEqual(planted);
    expect(await found(true)).toEqual(planted);
    expect(await found(false)).toEqual([]);
  });

  it('that was ended goes on where it stood, and compares nothing twice', async () => {
    await indexed.write(
      Array.from({ length: 500 }, () => ({ row_key: randomUUID(), body: { driver: randomUUID(), city: 'Faro' } })),
    );
    const whole = await indexed.verify({});
    let [rows, entries, runs] = [0, 0, 0];
    let locations: Record<string, VerifyLocation> = {};
    for (let isOver = false; !isOver; runs += 1) {
      const ending = new AbortController();
      let pages = 0;
      const part = await indexed.verify({
        from: locations,
        signal: ending.signal,
        passed: (group, location) => {
          locations = decodeBody(
            encodeBody({ ...locations, [group]: location } as unknown as Json),
          ) as unknown as typeof locations;
          if (++pages === 3) ending.abort();
        },
      });
      isOver = !ending.signal.aborted;
      rows += part.rows;
      entries += part.entries;
    }
    expect(runs).toBeGreaterThan(2);
    // A page that was being read when the end came is read again.
    expect(rows).toBeGreaterThanOrEqual(whole.rows);
    expect(rows + entries).toBeLessThan((whole.rows + whole.entries) * 1.5);
    expect(entries).toBeGreaterThanOrEqual(whole.entries);
  });

  it('after a cut goes on from run to run', async () => {
    const group = indexed.groupOf(1);
    await updateState(indexed.stateTable, {
      key: `writer#${indexed.datastore}#${group}`,
      update: 'SET #server = :other',
      values: { ':other': { S: 'another' } },
    });
    let runs = 0;
    for (let isVerified = false; !isVerified; runs += 1) {
      const [isFull, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let pages = 0;
      const run = indexed.repair({
        wrap: (client) => ({
          ...client,
          select: async (statement, target) => {
            if (statement.sql.startsWith('SELECT DISTINCT row_key') && ++pages > 3) {
              isFull.resolve();
              await release.promise;
            }
            return client.select(statement, target);
          },
        }),
      });
      const verified = until('verified', () => run.events.some(({ kind }) => kind === 'verified')).catch(
        () => undefined,
      );
      await Promise.race([verified, isFull.promise]);
      const ended = run.stop();
      release.resolve();
      await ended;
      isVerified = run.events.some(({ kind }) => kind === 'verified');
      if (runs > 15) throw new Error('it starts over each time');
    }
    expect(runs).toBeGreaterThan(2);
  });

  it('follows a promotion that lost cells: their entries do not stay, and win over nothing', async () => {
    const [row_key = '', other = ''] = rowsOfShard(2, SHARDS, 2);
    await indexed.write([{ row_key, body: { driver: randomUUID(), city: 'kept' } }]);
    const run = indexed.repair();
    const group = indexed.groupOf(2);
    const writerKey = `writer#${indexed.datastore}#${group}`;
    await until('it knows the writer', async () => (await readState(indexed.stateTable, writerKey)) !== undefined);
    await run.stop();

    const client = indexed.client(2);
    const entity = `\`${indexed.datastore}_0002\`.entity`;
    const [[head] = []] = await select(client, `SELECT MAX(added_id) FROM ${entity}`);
    // Only the writer had these, and the index on other groups.
    await indexed.write(
      [2, 3, 4].map((ref_key) => ({ row_key, ref_key, body: { driver: randomUUID(), city: 'lost' } })),
    );
    await change(client, `DELETE FROM ${entity} WHERE added_id > ?`, String(head));
    await change(client, 'UPDATE schemaless.shard SET head_epoch = NULL WHERE datastore = ?', indexed.datastore);
    await indexed.write([
      { row_key: other, body: { driver: randomUUID(), city: 'taken' } },
      { row_key, ref_key: 9, body: { driver: randomUUID(), city: 'new' } },
    ]);
    expect((await indexed.problems()).length).toBeGreaterThan(0);
    await updateState(indexed.stateTable, {
      key: writerKey,
      update: 'SET #server = :other',
      values: { ':other': { S: 'another' } },
    });

    const after = indexed.repair();
    await until('verified', () => after.events.some(({ kind }) => kind === 'verified'));
    await after.stop();
    expect(countKinds(await indexed.problems())).toEqual(NONE);
    expect(after.events.filter(({ kind }) => kind === 'writer_changed')).toMatchObject([{ group }]);
    const again = indexed.repair();
    await until('it follows', () => again.events.some(({ kind }) => kind === 'followed'));
    await again.stop();
    expect(again.events.filter(({ kind }) => kind === 'verified' || kind === 'writer_changed')).toEqual([]);
  });
});
