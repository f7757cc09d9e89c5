import { expect, it } from 'vitest';
import { ASSUMPTIONS, type Assumptions } from '../../../../infra/capacity/assumptions.ts';
import { capacityFor } from '../../../../infra/capacity/capacity.ts';
import { dpusOf, dsqlFor } from '../../../../infra/capacity/elsewhere/dsql.ts';
import { loadOn } from '../../../../infra/capacity/load.ts';
import { ENVIRONMENTS } from '../../../../infra/environments.ts';

/** A thousand writes, and two thousand reads: one for each write, one by each call of a trigger. */
const planWith = (assumptions: Partial<Assumptions> = {}, writes = 1000) =>
  capacityFor(loadOn(ENVIRONMENTS.prod, 4096, writes), { ...ASSUMPTIONS, ...assumptions });
const SECONDS = 730 * 3600;
const GB = 1024 ** 3;
/** The least that a transaction reads, as AWS's examples have it: 0.00375 DPU. */
const KEYS = 2048 * 0.00000183105;

it('takes DPUs for bytes written, bytes read and time, as the examples of AWS have them', () => {
  const { writes, reads, streamed } = dpusOf(planWith());
  // A row of 776 bytes, one of the latest fields and one of the index, 150 each; 8 ms.
  expect(writes).toBeCloseTo(1000 * (1076 * 0.00004883 + KEYS + 0.008), 6);
  expect(reads).toBeCloseTo(2000 * (KEYS + 0.003), 6);
  expect(streamed).toBeCloseTo(1000 * (1176 + 550) * 0.0000023283, 6);
});

it('takes no less than the least of a row and of a transaction', () => {
  const small = { elsewhere: { ...ASSUMPTIONS.elsewhere, encodedCellBytes: 20, entryBytes: 20 } };
  // AWS's example of a single insert: 0.06175 DPU.
  expect(dpusOf(planWith({ ...small, entriesPerWrite: 0 }, 1)).writes).toBeCloseTo(0.06175, 5);
  // Rows of 100 and 20 bytes are counted as 128, nine entries of 20 likewise.
  expect(dpusOf(planWith({ ...small, entriesPerWrite: 9 }, 1)).writes).toBeCloseTo(
    11 * 128 * 0.00004883 + KEYS + 0.008,
    6,
  );
  const large = { elsewhere: { ...ASSUMPTIONS.elsewhere, encodedCellBytes: 4016 } };
  expect(dpusOf(planWith(large, 1)).reads).toBeCloseTo(2 * (4096 * 0.00000183105 + 0.003), 6);
});

it('costs what its DPUs, its GB, and the stream of its changes cost', () => {
  const { bill, monthlyUsd, storedUsd } = dsqlFor(planWith());
  const { writes, reads, streamed } = dpusOf(planWith());
  // Records of 1,176 and 550 bytes are three KB.
  const recorded = (1000 * SECONDS * 3 * 1024) / GB;
  const stored = ((1000 * SECONDS * 1076) / GB) * 0.33;
  const kinesis = 730 * 0.04 + recorded * (0.08 + 0.04);
  const expected = [...[writes, reads].map((dpu) => dpu * SECONDS * 8e-6), stored, streamed * SECONDS * 8e-6, kinesis];
  for (const [line, usd] of expected.entries()) expect(bill[line]?.usd, bill[line]?.name).toBeCloseTo(usd, 6);
  // 1,351.66 and 283.82 for writes and reads, 869.07 of storage, 84.49 and 931.45 for the stream.
  expect(monthlyUsd).toBeCloseTo(3520.49, 1);
  expect(storedUsd).toBeCloseTo(stored, 6);
});

it('costs nothing for changes where there is no trigger, and at rest the hours of the stream alone', () => {
  const untriggered = dsqlFor(planWith({ triggersPerWrite: 0 })).bill.slice(-2);
  expect(untriggered.map(({ usd }) => usd)).toEqual([0, 0]);
  expect(dsqlFor(planWith({}, 0)).monthlyUsd).toBeCloseTo(730 * 0.04, 6);
});

it('exceeds what a cluster may hold by default once that is stored', () => {
  const writes = (10 * 1024 * GB) / (SECONDS * 1076);
  expect([0.999, 1.001].map((share) => dsqlFor(planWith({}, share * writes)).isExceeded)).toEqual([false, true]);
});
