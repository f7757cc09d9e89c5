import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SqlError, UNBOUNDED, type SqlClient, type SqlRow, type Statement } from '../../../shared/sql/client.ts';
import { selectParts } from '../../../shared/sql/union.ts';
import { TIMED } from '../../support/timed.ts';

const LATE_MS = 900;
const partOf = (table: string, row: string, more = ''): Statement => ({
  sql: `SELECT '${row}'${more} FROM ${table}`,
  parameters: [],
  table,
});
const [one, two, three] = ['`trips_0001`.entity', '`trips_0002`.entity', '`trips_0003`.entity'] as const;

/** A node whose tables can be locked, and which may hang; every statement that waits ends after its time limit. */
function node() {
  const state = { locked: new Set<string>(), hangs: false, sent: [] as string[] };
  const client: SqlClient = {
    abilities: { readsFromReaders: true, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: 2,
    async select({ sql }) {
      state.sent.push(sql);
      const until = performance.now() + LATE_MS;
      const waits = (): boolean =>
        state.hangs || sql.includes('HEAVY') || [...state.locked].some((table) => sql.includes(table));
      while (waits()) {
        if (performance.now() > until) throw new SqlError('unclear', 'no answer', { timedOut: true });
        await sleep(5);
      }
      return [...sql.matchAll(/SELECT '(\w+)'/g)].map(([, row = '']): SqlRow => [row]);
    },
    change: () => Promise.reject(new Error('changes nothing')),
    close: async () => undefined,
  };
  const ask = async (parts: readonly Statement[]) => {
    const begun = performance.now();
    const { rows, refused } = await selectParts(client, parts, 'writer');
    return {
      rows: rows.map(([row]) => row).sort(),
      refused: [...refused.keys()].sort(),
      ms: performance.now() - begun,
    };
  };
  return { state, ask };
}

describe('parts of a union that is late', () => {
  it(
    'are all answered but those of the table that is locked, at once from then on, and those, too, once it is free',
    TIMED,
    async () => {
      const { state, ask } = node();
      state.locked.add(two);
      const parts = [partOf(one, 'a'), partOf(two, 'b'), partOf(two, 'c'), partOf(three, 'd')];
      expect(await ask(parts)).toMatchObject({ rows: ['a', 'd'], refused: [1, 2] });
      const again = await ask(parts);
      expect(again).toMatchObject({ rows: ['a', 'd'], refused: [1, 2] });
      expect(again.ms).toBeLessThan(LATE_MS / 3);
      state.locked.clear();
      await expect.poll(() => ask(parts)).toMatchObject({ rows: ['a', 'b', 'c', 'd'], refused: [] });
    },
  );

  it('are answered where most are of the locked table, and where they have no rows', async () => {
    const { state, ask } = node();
    state.locked.add(two);
    const parts = [
      ...Array.from({ length: 12 }, () => partOf(two, 'b')),
      { ...partOf(one, 'a'), sql: `SELECT NULL FROM ${one}` },
    ];
    expect(await ask(parts)).toMatchObject({
      rows: [],
      refused: Array.from({ length: 12 }, (_, position) => position).sort(),
    });
  });

  it('fail as they are where a statement is slow by itself: its table is not taken for locked', async () => {
    const { state, ask } = node();
    await expect(ask([partOf(one, 'a', ' /* HEAVY */'), partOf(two, 'b')])).rejects.toMatchObject({ timedOut: true });
    state.sent.length = 0;
    expect(await ask([partOf(one, 'a'), partOf(two, 'b')])).toMatchObject({ rows: ['a', 'b'], refused: [] });
    expect(state.sent).toHaveLength(1);
  });

  it('fail as they are where the node hangs: none of its tables is taken for locked', async () => {
    const { state, ask } = node();
    state.hangs = true;
    await expect(ask([partOf(one, 'a'), partOf(two, 'b')])).rejects.toMatchObject({ timedOut: true });
    state.hangs = false;
    expect(await ask([partOf(one, 'a'), partOf(two, 'b')])).toMatchObject({ refused: [] });
  });

  it('are refused alone where each is of its table', async () => {
    const { state, ask } = node();
    state.locked.add(one);
    expect(await ask([partOf(one, 'a')])).toMatchObject({ rows: [], refused: [0] });
  });
});
