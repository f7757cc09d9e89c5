import { expect, it } from 'vitest';
import { writeOver, type WrittenOver } from '../../../shared/erasures/purge/write-over.ts';
import { FILLER_BYTES, rewriteFiller } from '../../../shared/erasures/statements/filler.ts';
import { SqlError, type SqlClient, type Statement } from '../../../shared/sql/client.ts';

const REDO_BYTES = 400 * 1024 ** 2;
const REWRITE = rewriteFiller().sql;

const once = { signal: new AbortController().signal, before: undefined, noted: async () => undefined };

/** A group of one server of MariaDB's kind, which counts how often its filler was written anew. */
function server(refusal?: { readonly of: string; readonly errno: number }) {
  let [rewrites, drops] = [0, 0];
  const change = async ({ sql }: Statement) => {
    if (sql === REWRITE) rewrites += 1;
    if (sql.startsWith('DROP')) drops += 1;
    if (refusal && sql.startsWith(refusal.of)) throw new SqlError('rejected', 'no', { errno: refusal.errno });
    return { affectedRows: 0, insertId: 0 };
  };
  const select = async () => [['innodb_log_file_size', String(REDO_BYTES)]];
  return { client: { nodes: 1, change, select } as unknown as SqlClient, rewrites: () => rewrites, drops: () => drops };
}

it('goes on where the run before it had to end, however often that is', async () => {
  const { client, rewrites } = server();
  let before: number | undefined;
  let done: WrittenOver | undefined;
  for (let runs = 0; runs < 10; runs += 1) {
    const ending = new AbortController();
    let parts = 0;
    done = await writeOver(client, {
      signal: ending.signal,
      before,
      async noted(bytes) {
        before = bytes;
        parts += 1;
        if (parts === 4) ending.abort();
      },
    });
  }
  expect(before).toBeGreaterThanOrEqual(REDO_BYTES);
  expect(rewrites()).toBe(Math.ceil(REDO_BYTES / FILLER_BYTES));
  expect(done).toBe('done');
});

it('leaves its table to who goes on with it where it has to end, and drops it at its own end', async () => {
  const ending = new AbortController();
  const cutOff = server();
  const done = await writeOver(cutOff.client, {
    signal: ending.signal,
    before: undefined,
    noted: async () => ending.abort(),
  });
  expect([done, cutOff.rewrites(), cutOff.drops()]).toEqual(['not yet', 1, 0]);
  const refusing = server({ of: 'INSERT', errno: 1114 });
  await writeOver(refusing.client, { ...once, signal: AbortSignal.abort() });
  expect(refusing.drops()).toBe(0);
  const whole = server();
  await writeOver(whole.client, once);
  expect(whole.drops()).toBe(1);
});

it('is hindered by what may pass, as a disk that is full, and refused for good by all else', async () => {
  const full = server({ of: 'INSERT', errno: 1114 });
  expect(await writeOver(full.client, once)).toEqual({ hindered: 'no' });
  // A table of 18 MB is not left on a disk that is full.
  expect(full.drops()).toBe(1);
  for (const errno of [1142, 1286, 3161])
    expect(await writeOver(server({ of: 'CREATE', errno }).client, once)).toEqual({ refused: 'no' });
});
