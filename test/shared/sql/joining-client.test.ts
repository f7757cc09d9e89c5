import { expect, it } from 'vitest';
import { UNBOUNDED, type SqlChange, type SqlClient, type Statement } from '../../../shared/sql/client.ts';
import { joiningClient } from '../../../shared/sql/joining-client.ts';
import { appendCell } from '../../../shared/sql/statements/append-cells.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf } from '../../support/datastore-conformance.ts';

const FENCE = { datastore: 'trips', shard: 0, epoch: 1 };
const cells = Array.from({ length: 4 }, (_, ref_key) => copyOf(cellOf({ ref_key })));

/** A client without transactions, whose statements wait until the test lets them go. */
function gated() {
  const sent: { readonly statement: Statement; readonly end: (change: SqlChange) => void }[] = [];
  const client: SqlClient = {
    abilities: { readsFromReaders: false, survivesDiskLoss: false, bounds: UNBOUNDED },
    nodes: 1,
    select: async () => [],
    change: (statement) => new Promise((end) => sent.push({ statement, end })),
    close: async () => undefined,
  };
  return { sent, client: joiningClient(client) };
}

it('appends to a shard that come while one is under way are one, and each is told which cells are its own', async () => {
  const { sent, client } = gated();
  const changes = cells.map((cell) => client.change(appendCell(FENCE, cell)));
  expect(sent).toHaveLength(1);
  sent[0]?.end({ affectedRows: 1, insertId: 1 });
  await expect.poll(() => sent.length).toBe(2);
  expect(sent[1]?.statement.sql.match(/UNION ALL/gu)).toHaveLength(2);
  const joint = { affectedRows: 3, insertId: 4 };
  sent[1]?.end(joint);
  expect(await Promise.all(changes)).toEqual([
    { affectedRows: 1, insertId: 1 },
    ...[0, 1, 2].map((at) => ({ ...joint, among: { cells: 3, at } })),
  ]);
});

it('hints that no caller wants any more are not sent with others', async () => {
  const { sent, client } = gated();
  let isWanted = true;
  const changes = cells.map((cell, position) =>
    client.change({ ...insertBuffered('trips', [cell]), isWanted: () => isWanted || position === 3 }),
  );
  const ends = Promise.allSettled(changes);
  isWanted = false;
  for (const { end } of sent.splice(0)) end({ affectedRows: 1, insertId: 1 });
  await expect.poll(() => sent.length).toBe(1);
  expect(sent[0]?.statement.parameters).toEqual(insertBuffered('trips', [cells[3] as (typeof cells)[0]]).parameters);
  sent[0]?.end({ affectedRows: 1, insertId: 2 });
  const failures = (await ends).map((one) => (one.status === 'rejected' ? one.reason.failure : 'sent'));
  expect(failures).toEqual(['sent', 'unreachable', 'unreachable', 'sent']);
});
