import { describe, expect, it } from 'vitest';
import {
  parkedPage,
  parseParkedCursor,
  type ParkedPageWanted,
} from '../../../../shared/triggers/manage/parked-page.ts';
import type { MalformedMessage, ParkedPage } from '../../../../shared/api/trigger-shapes.ts';
import type { FailingCell, TroubledShard } from '../../../../shared/triggers/state/trigger-store.ts';
import { messageOf } from '../consume/support/stage.ts';

const AT = '2026-01-31T08:00:15.900Z';

function failing(shard: number, added_id: number, more: Partial<FailingCell> = {}): FailingCell {
  return {
    message: messageOf(shard, added_id),
    attempts: 5,
    first_failed_at: AT,
    last_failed_at: AT,
    last_error: 'no',
    parked_at: AT,
    round: 0,
    ...more,
  };
}

const { parked_at: _parked, ...unparked } = failing(2, 4);
const TROUBLED: readonly TroubledShard[] = [
  { shard: 17, cells: [failing(17, 5)] },
  { shard: 2, cells: [failing(2, 3), unparked, failing(2, 20, { retry: 'sent', retried_at: AT, round: 2 })] },
];
const message = (message_id: string): MalformedMessage => ({ message_id, body: '{', error: 'no JSON', parked_at: AT });
const MALFORMED = [message('b'), message('a')];

const page = (
  { after, ...wanted }: Partial<Omit<ParkedPageWanted, 'after'>> & { readonly after?: string | null },
  troubled = TROUBLED,
  malformed = MALFORMED,
): ParkedPage =>
  parkedPage(troubled, malformed, {
    limit: 100,
    ...wanted,
    after: typeof after === 'string' ? parseParkedCursor(after) : undefined,
  });
const namesOf = ({ cells, malformed }: ParkedPage): string[] => [
  ...cells.map(({ shard, added_id }) => `${shard}:${added_id}`),
  ...malformed.map(({ message_id }) => message_id),
];
const EVERYTHING = ['2:3', '2:20', '17:5', 'a', 'b'];

describe('what is parked', () => {
  it('is every parked cell by shard and added id, then every message; cells still tried are not', () => {
    expect(namesOf(page({}))).toEqual(EVERYTHING);
    expect(page({}).next).toBeNull();
    expect(page({}).cells.slice(0, 2)).toMatchObject([
      { added_id: 3, retry: null, retried_at: null },
      { added_id: 20, retry: 'sent', retried_at: AT, round: 2 },
    ]);
    expect(page({}, [], [])).toEqual({ cells: [], malformed: [], next: null });
  });

  it.each([1, 2, 3, 4, 5])('comes whole by pages of %i', (limit) => {
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const one = page({ limit, after });
      expect(namesOf(one).length).toBeLessThanOrEqual(limit);
      seen.push(...namesOf(one));
      after = one.next;
    } while (after !== null && seen.length < EVERYTHING.length);
    expect(after).toBeNull();
    expect(seen).toEqual(EVERYTHING);
  });

  it('comes whole when an answer holds one item at most', () => {
    const first = page({ bytes: 10 });
    expect([namesOf(first), first.next]).toEqual([['2:3'], '2:3']);
    const { length } = JSON.stringify(first.cells[0]);
    expect(namesOf(page({ bytes: length * 2 + 100 }))).toEqual(['2:3', '2:20']);
    expect(namesOf(page({ bytes: 10, after: 'message/a' }))).toEqual(['b']);
  });

  it('goes on from a cell or a message that is gone by then', () => {
    expect(namesOf(page({ after: '2:20' }, [TROUBLED[0] as TroubledShard]))).toEqual(['17:5', 'a', 'b']);
    expect(namesOf(page({ after: 'message/a' }, TROUBLED, [message('b')]))).toEqual(['b']);
  });

  it.each(['', '2', '2/', 'x/3', '2/-3', '2/3/4', '2/3.5'])('is not gone on with from %j', (text) => {
    expect(() => parseParkedCursor(text)).toThrow(expect.objectContaining({ code: 'invalid_field', field: 'after' }));
  });
});
