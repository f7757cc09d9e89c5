import { afterEach, describe, expect, it } from 'vitest';
import { SqlError, type SqlChange } from '../../../shared/sql/client.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 9;
const MARK = 'UPDATE `schemaless`.buffer FORCE INDEX (copy) SET answered';
/** What becomes of the mark on a copy, on each holder in turn; those that are not named take it. */
const fates: (() => SqlChange)[] = [];
let isPrimaryAway = true;

const away = (): SqlChange => {
  throw new SqlError('unreachable', 'away');
};
const lacks = (): SqlChange => ({ affectedRows: 0, insertId: 0 });

const { trips, cellIn } = await sharedTrips(SHARDS, {
  wrap: (client) => ({
    ...client,
    change: async (statement) => {
      if (isPrimaryAway && statement.sql.includes('.`entity`')) throw new SqlError('unreachable', 'away');
      const fate = statement.sql.startsWith(MARK) ? fates.shift() : undefined;
      return fate ? fate() : client.change(statement);
    },
  }),
});
afterEach(() => {
  fates.length = 0;
  isPrimaryAway = true;
});

describe('a write whose primary is away', () => {
  it.each([
    ['no group can be asked to mark its copy as answered', [away, away]],
    ['every group lacks its copy', [lacks, lacks]],
    ['one group lacks its copy, and the other cannot be asked', [lacks, away]],
  ])('is not answered `buffered` where %s, and its repetition is stored', async (_, planned) => {
    const cell = cellIn(0);
    fates.push(...planned);
    expect(await trips.put(cell)).toMatchObject({ outcome: 'unavailable' });
    expect(fates).toEqual([]);
    isPrimaryAway = false;
    expect(await trips.put(cell)).toMatchObject({ outcome: 'stored' });
  });

  it.each([
    ['cannot be asked', away],
    ['lacks its copy', lacks],
  ])('is answered `buffered` where one group takes the mark, and the other %s', async (_, fate) => {
    fates.push(fate);
    expect(await trips.put(cellIn(0))).toMatchObject({ outcome: 'buffered', copies: 2 });
  });
});
