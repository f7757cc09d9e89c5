import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SqlError, UNBOUNDED, type SqlClient, type SqlRow, type Statement } from '../../../shared/sql/client.ts';
import { selectParts } from '../../../shared/sql/select-parts.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';

const LATE_MS = 900;
const partOf = (table: string, row: string, more = ''): Statement => ({
  sql: `SELECT '${row}'${more} FROM ${table}`,
  parameters: [],
  table,
});
const [one, two, three] = ['`trips_0001`.entity', '`trips_0002`.entity', '`trips_0003`.entity'] as const;

fakeTimeOfEach();

/** A node whose tables can be locked, and which may hang; every statement that waits ends after its time limit. */
function node() {
  const state = { locked: new Set<string>(), hangs: false, sent: [] as string[] };
  const client: SqlClient = {
    abilities: { readsFromReaders: true, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: 2,
    async select({ sql }) {
      state.sent.push(sql);
      const waits = (): boolean =>
        state.hangs || sql.includes('HEAVY') || [...state.locked].some((table) => sql.includes(table));
      for (let waited = 0; waits(); waited += 5) {
        if (waited >= LATE_MS) throw new SqlError('unclear', 'no answer', { timedOut: true });
        await pause(5);
      }
      return [...sql.matchAll(/SELECT '(\w+)'/g)].map(([, row = '']): SqlRow => [row]);
    },
    change: () => Promise.reject(new Error('changes nothing')),
    close: async () => undefined,
  };
  const ask = async (parts: readonly Statement[]) => {
    const { rows, refused } = await selectParts(client, parts, 'writer');
    return { rows: rows.map(([row]) => row).sort(), refused: [...refused.keys()].sort() };
  };
  const askLong = async (parts: readonly Statement[]) => {
    const [answer] = await Promise.allSettled([ask(parts), passes(3 * LATE_MS)]);
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  };
  return { state, ask, askLong };
}

describe('parts of a union that is late', () => {
  it('are answered except those of a locked table: without a wait from then on, and in full once it is free', async () => {
    const { state, ask, askLong } = node();
    state.locked.add(two);
    const parts = [partOf(one, 'a'), partOf(two, 'b'), partOf(two, 'c'), partOf(three, 'd')];
    expect(await askLong(parts)).toEqual({ rows: ['a', 'd'], refused: [1, 2] });
    expect(await ask(parts)).toEqual({ rows: ['a', 'd'], refused: [1, 2] });
    state.locked.clear();
    await passes(LATE_MS);
    expect(await ask(parts)).toEqual({ rows: ['a', 'b', 'c', 'd'], refused: [] });
  });

  it('are answered where most are of the locked table, and where they have no rows', async () => {
    const { state, askLong } = node();
    state.locked.add(two);
    const parts = [
      ...Array.from({ length: 12 }, () => partOf(two, 'b')),
      { ...partOf(one, 'a'), sql: `SELECT NULL FROM ${one}` },
    ];
    expect(await askLong(parts)).toEqual({ rows: [], refused: Array.from({ length: 12 }, (_, at) => at).sort() });
  });

  it('fail where a statement is slow by itself: its table is not taken for locked', async () => {
    const { state, ask, askLong } = node();
    await expect(askLong([partOf(one, 'a', ' /* HEAVY */'), partOf(two, 'b')])).rejects.toMatchObject({
      timedOut: true,
    });
    state.sent.length = 0;
    expect(await ask([partOf(one, 'a'), partOf(two, 'b')])).toEqual({ rows: ['a', 'b'], refused: [] });
    expect(state.sent).toHaveLength(1);
  });

  it('fail where the node hangs: none of its tables is taken for locked', async () => {
    const { state, ask, askLong } = node();
    state.hangs = true;
    await expect(askLong([partOf(one, 'a'), partOf(two, 'b')])).rejects.toMatchObject({ timedOut: true });
    state.hangs = false;
    expect(await ask([partOf(one, 'a'), partOf(two, 'b')])).toMatchObject({ refused: [] });
  });

  it('are refused alone where each is of the locked table', async () => {
    const { state, askLong } = node();
    state.locked.add(one);
    expect(await askLong([partOf(one, 'a')])).toEqual({ rows: [], refused: [0] });
  });
});
