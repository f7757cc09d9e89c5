import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../shared/cell.ts';
import { erasureAddress } from '../../../../shared/address.ts';
import { fingerprintOf } from '../../../../shared/follow/offsets.ts';
import type { LogEntry } from '../../../../shared/follow/follower.ts';
import { isSameQueue, sqsQueues } from '../../../../shared/triggers/state/queues.ts';
import type { TriggerMessage } from '../../../../shared/triggers/state/trigger-store.ts';
import {
  deduplicationId,
  encodeMessage,
  fingerprintOfMessage,
  groupId,
  parseMessage,
  retryDeduplicationId,
  retryGroupId,
  toMessage,
} from '../../../../shared/triggers/state/queue-message.ts';
import { drainQueue, startSqs, type LocalSqs } from '../../../support/sqs.ts';

const cell: LogEntry = {
  shard: 17,
  added_id: 4096,
  row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
  column_name: 'BASE',
  ref_key: 3,
  created_at: '2026-01-31T08:00:00.123456Z',
  fingerprint: '0123456789abcdef',
  generation: 0,
};
const name = { datastore: 'trips', trigger: 'bill_rider' };
const message = toMessage(cell, name, 0);
const text =
  '{"datastore":"trips","trigger":"bill_rider","shard":17,"added_id":4096,"row_key":"6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0","column_name":"BASE","ref_key":3,"created_at":"2026-01-31T08:00:00.123456Z","replay":false,"generation":0}';

describe('a trigger message', () => {
  it('is JSON, in the order in which it is documented', () => {
    expect(encodeMessage(message)).toBe(text);
    expect(parseMessage(text)).toEqual(message);
  });

  it('of a cell of a transaction says its place there', () => {
    const one = toMessage({ ...cell, transaction: { size: 3, position: 2 } }, name, 0);
    expect(one.transaction).toEqual({ size: 3, position: 2 });
    expect(parseMessage(encodeMessage(one))).toEqual(one);
    const beyond = encodeMessage({ ...one, transaction: { size: 3, position: 3 } });
    expect(() => parseMessage(beyond)).toThrow('transaction.position: wanted an integer from 0 to 2, got 3');
  });

  it('is a replay where the cell was in the log at the rewind that raised its generation, whatever the clocks say', () => {
    expect(toMessage({ ...cell, generation: 1 }, name, 4096)).toMatchObject({ replay: true, generation: 1 });
    expect(toMessage({ ...cell, generation: 1, created_at: '2027-01-31T08:00:00.000000Z' }, name, 4096).replay).toBe(
      true,
    );
    expect(toMessage({ ...cell, generation: 1, created_at: '2025-01-31T08:00:00.000000Z' }, name, 4095).replay).toBe(
      false,
    );
    expect(toMessage(cell, name, 4096).replay).toBe(false);
  });

  it.each([
    ['row', {}, '', LIMITS.refKey],
    ['column', { column_name: 'BASE' }, 'BASE', LIMITS.refKey],
    ['versions', { column_name: 'BASE', up_to: 4 }, 'BASE', 4],
    ['cell', { column_name: 'BASE', ref_key: 4 }, 'BASE', 4],
  ] as const)(
    'of the erasure of a %s says what it is of, and is known by its place in the log',
    (scope, of, column_name, ref_key) => {
      const logged = { ...cell, ...erasureAddress({ row_key: cell.row_key, ...of }) };
      const erased = toMessage(logged, name, 0);
      expect(erased).toMatchObject({ erasure: scope, row_key: cell.row_key, column_name, ref_key });
      expect(parseMessage(encodeMessage(erased))).toEqual(erased);
      expect(fingerprintOfMessage(erased)).toBe(fingerprintOf(logged));
    },
  );

  it.each([
    ['no json', '{"datastore"', 'invalid_json', 'the message is not JSON'],
    ['a list', '[]', 'invalid_field', 'message: wanted an object, got an array'],
    ['a name', text.replace('"trips"', '"Trips"'), 'invalid_field', 'datastore'],
    ['no trigger', text.replace('"trigger":"bill_rider",', ''), 'missing_field', 'trigger'],
    ['a shard', text.replace('17', '-1'), 'invalid_field', 'shard'],
    ['an added id', text.replace('4096', '0'), 'invalid_field', 'added_id'],
    ['a row key', text.replace('6e3a0f9c', '6e3a0f9'), 'invalid_field', 'row_key'],
    ['a column name', text.replace('"BASE"', '""'), 'invalid_field', 'column_name'],
    ['a ref key', text.replace('"ref_key":3', '"ref_key":1.5'), 'invalid_field', 'ref_key'],
    ['a time', text.replace('.123456Z', ''), 'invalid_field', 'created_at'],
    ['a replay', text.replace('false', '"no"'), 'invalid_field', 'replay'],
    ['a generation', text.replace('"generation":0', '"generation":-1'), 'invalid_field', 'generation'],
  ])('with %s that cannot be used is refused, naming the field', (_what, wrong, code, names) => {
    expect(() => parseMessage(wrong)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(names) as string }),
    );
  });
});

describe('the deduplication id', () => {
  it('is another one for another place, another cell there, and another generation', () => {
    const others = [
      cell,
      { ...cell, shard: 1 },
      { ...cell, added_id: 1 },
      { ...cell, fingerprint: 'fedcba9876543210' },
      { ...cell, generation: 1 },
    ];
    expect(deduplicationId(cell)).toBe('17-4096-0123456789abcdef-0');
    expect(new Set(others.map(deduplicationId)).size).toBe(others.length);
  });

  it('of a retry is another one for each round, and for each time that the cell was parked', () => {
    const parked = { message, parked_at: '2026-01-31T09:00:00.000Z' };
    const ids = [
      deduplicationId(cell),
      retryDeduplicationId(parked, 1),
      retryDeduplicationId(parked, 2),
      retryDeduplicationId({ ...parked, parked_at: '2026-01-31T09:00:01.000Z' }, 1),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,128}$/u);
    expect([groupId(17), retryGroupId(17)]).toEqual(['17', '17-retry']);
  });
});

describe('SQS', () => {
  let sqs: LocalSqs;
  beforeAll(async () => {
    sqs = await startSqs();
  });
  afterAll(() => sqs.stop());

  it('takes messages of any column name, and says of each whether it took it', async () => {
    const queueUrl = await sqs.newQueue();
    const queues = sqsQueues(sqs.client);
    const odd: TriggerMessage[] = ['\uFFFE\uFFFF', '\u001F\u0000\u007F', '"\\/', '💶 <&>', ' '].map((column_name) => ({
      ...message,
      column_name,
    }));
    const sent = await queues.send(
      queueUrl,
      odd.map((one, item) => ({ body: encodeMessage(one), groupId: 'a', deduplicationId: String(item) })),
    );
    expect(sent).toEqual(odd.map(() => undefined));
    expect(await queues.depth(queueUrl)).toBe(odd.length);
    const mixed = await queues.send(
      queueUrl,
      ['fine', 'not \uFFFF so', 'fine'].map((body, item) => ({ body, groupId: 'b', deduplicationId: `${item}` })),
    );
    expect(mixed.map((error) => error?.message.split(':')[0])).toEqual([
      undefined,
      'InvalidMessageContents',
      undefined,
    ]);
    const drained = (await drainQueue(sqs, queueUrl)).filter(({ Body }) => Body !== 'fine');
    expect(drained.map(({ Body = '' }) => parseMessage(Body))).toEqual(odd);
    await expect(queues.send(`${queueUrl}-gone`, [{ body: 'x', groupId: 'a', deduplicationId: 'a' }])).rejects.toThrow(
      'queue does not exist',
    );
  });

  it('gets back every message that was encoded', () => {
    fc.assert(
      fc.property(
        // Those of erasures begin so.
        fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((name) => name >= '\u0002'),
        fc.maxSafeNat(),
        fc.boolean(),
        (column_name, ref_key, replay) => {
          const one = { ...message, column_name, ref_key, replay };
          // SQS and its emulators accept these characters, control characters beyond U+001F among them.
          expect(encodeMessage(one)).toMatch(/^[ -\uD7FF\uE000-\uFFFD]*$/);
          expect(parseMessage(encodeMessage(one))).toEqual(one);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['at another port, as after a restart of a local stack', 'http://127.0.0.1:9300/1/bill.fifo', true],
    ['of another name', 'http://127.0.0.1:4100/1/bill-2.fifo', false],
    ['of another account', 'http://127.0.0.1:4100/2/bill.fifo', false],
    ['that is not known', undefined, false],
  ])('has the same queue or not: one %s', (_what, other, isSame) => {
    expect(isSameQueue(other, 'http://127.0.0.1:4100/1/bill.fifo')).toBe(isSame);
  });
});
