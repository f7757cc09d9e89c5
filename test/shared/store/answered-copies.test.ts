import { afterEach, describe, expect, it } from 'vitest';
import { SqlError, type SqlChange } from '../../../shared/sql/client.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 9;
const MARK = 'UPDATE `schemaless`.buffer FORCE INDEX (copy) SET answered';
/** The results of marking a copy, by hint holder in turn; those not listed take the mark. */
const fates: (() => SqlChange)[] = [];
let isPrimaryUnavailable = true;

const unavailable = (): SqlChange => {
  throw new SqlError('unreachable', 'unavailable');
};
const lacks = (): SqlChange => ({ affectedRows: 0, insertId: 0 });

const { trips, cellIn } = await sharedTrips(SHARDS, {
  wrap: (client) => ({
    ...client,
    change: async (statement) => {
      if (isPrimaryUnavailable && statement.sql.includes('.`entity`')) throw new SqlError('unreachable', 'unavailable');
      const fate = statement.sql.startsWith(MARK) ? fates.shift() : undefined;
      return fate ? fate() : client.change(statement);
    },
  }),
});
afterEach(() => {
  fates.length = 0;
  isPrimaryUnavailable = true;
});

describe('a write whose primary is unavailable', () => {
  it.each([
    ['no group can be asked to mark its copy as answered', [unavailable, unavailable]],
    ['every group lacks its copy', [lacks, lacks]],
    ['one group lacks its copy, and the other cannot be asked', [lacks, unavailable]],
  ])('is not answered `buffered` where %s, and its repetition is stored', async (_, planned) => {
    const cell = cellIn(0);
    fates.push(...planned);
    expect(await trips.put(cell)).toMatchObject({ outcome: 'unavailable' });
    expect(fates).toEqual([]);
    isPrimaryUnavailable = false;
    expect(await trips.put(cell)).toMatchObject({ outcome: 'stored' });
  });

  it.each([
    ['cannot be asked', unavailable],
    ['lacks its copy', lacks],
  ])('is answered `buffered` where one group takes the mark, and the other %s', async (_, fate) => {
    fates.push(fate);
    expect(await trips.put(cellIn(0))).toMatchObject({ outcome: 'buffered', copies: 2 });
  });
});
