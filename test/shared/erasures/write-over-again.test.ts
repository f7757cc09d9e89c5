import { expect, it } from 'vitest';
import { writeOver, type WrittenOver } from '../../../shared/erasures/purge/write-over.ts';
import { FILLER_BYTES, rewriteFiller } from '../../../shared/erasures/statements/filler.ts';
import { SqlError, type SqlClient, type Statement } from '../../../shared/sql/client.ts';

const REDO_BYTES = 400 * 1024 ** 2;
const REWRITE = rewriteFiller().sql;

/** A group of one server of MariaDB's kind, which counts how often its filler was written anew. */
function server(refusal?: { readonly of: string; readonly errno: number }) {
  let rewrites = 0;
  const change = async ({ sql }: Statement) => {
    if (sql === REWRITE) rewrites += 1;
    if (refusal && sql.startsWith(refusal.of)) throw new SqlError('rejected', 'no', { errno: refusal.errno });
    return { affectedRows: 0, insertId: 0 };
  };
  const select = async () => [['innodb_log_file_size', String(REDO_BYTES)]];
  return { client: { nodes: 1, change, select } as unknown as SqlClient, rewrites: () => rewrites };
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

it('is refused for good where a right is missing, and only then: a disk that is full is tried again', async () => {
  const once = { signal: new AbortController().signal, before: undefined, noted: async () => undefined };
  expect(await writeOver(server({ of: 'CREATE', errno: 1142 }).client, once)).toEqual({ refused: 'no' });
  await expect(writeOver(server({ of: 'INSERT', errno: 1114 }).client, once)).rejects.toMatchObject({ errno: 1114 });
});
