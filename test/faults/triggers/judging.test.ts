import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deliveryResult, isWhole, judgeDeliveries, type Delivery, type LoggedCell, isSpread } from './deliveries.ts';
import { NotedLines, noteLines } from '../line-log.ts';
import { deliveryCheck } from './part.ts';

const log = (shard: number, names: string): LoggedCell[] =>
  [...names].map((cell, position) => ({ shard, added_id: position + 1, cell }));
const deliver = (shard: number, positions: readonly number[], names = 'abcdef'): Delivery[] =>
  positions.map((id) => ({ shard, added_id: id, cell: names[id - 1] ?? '', replay: false, at: 0 }));

describe('what was delivered', () => {
  const judge = (...positions: readonly number[]) => {
    const { never, outOfOrder, repeats } = judgeDeliveries(log(3, 'abcd'), deliver(3, positions));
    return { never, outOfOrder, repeats };
  };

  it('is whole when each cell came, in order, without repeats', () => {
    expect(judge(1, 2, 3, 4)).toEqual({ never: 0, outOfOrder: 0, repeats: 0 });
    expect(judge(1, 2, 1, 2, 3, 2, 4)).toEqual({ never: 0, outOfOrder: 0, repeats: 3 });
  });

  it('shows cells that never came, and cells before an earlier one', () => {
    expect(judge(1, 2, 4)).toEqual({ never: 1, outOfOrder: 0, repeats: 0 });
    expect(judge(1, 2, 4, 3)).toEqual({ never: 0, outOfOrder: 1, repeats: 0 });
    // A later repeat does not fix it.
    expect(judge(1, 2, 4, 3, 4)).toEqual({ never: 0, outOfOrder: 1, repeats: 1 });
  });

  it('judges each shard by itself', () => {
    const due = [...log(1, 'ab'), ...log(2, 'ab')];
    expect(judgeDeliveries(due, [...deliver(1, [1, 2]), ...deliver(2, [1, 2])])).toMatchObject({
      due: 4,
      never: 0,
      outOfOrder: 0,
    });
    expect(judgeDeliveries(due, deliver(1, [1, 2]))).toMatchObject({ never: 2 });
  });

  it('tells a cell from the one that had its added id before', () => {
    // The second cell was lost, and another one took its place.
    const due = log(1, 'aXc');
    expect(judgeDeliveries(due, deliver(1, [1, 2, 3], 'abc'))).toMatchObject({ never: 1, outOfOrder: 0 });
    expect(judgeDeliveries(due, [...deliver(1, [1, 2], 'abc'), ...deliver(1, [2, 3], 'aXc')])).toMatchObject({
      never: 0,
      outOfOrder: 0,
      repeats: 0,
    });
  });

  it('passes when all of enough cells came and the control lost some, not otherwise', () => {
    const whole = judgeDeliveries(log(1, 'abc'), deliver(1, [1, 2, 3]));
    const broken = judgeDeliveries(log(1, 'abc'), deliver(1, [1, 3, 2]));
    expect([isWhole(whole), isWhole(broken), isWhole(judgeDeliveries([], []))]).toEqual([true, false, false]);
    expect(deliveryResult(broken)).toBe('0 never, 1 out of order of 3');
    expect(deliveryCheck('it', whole, broken, 3)).toMatchObject({ passed: true, control: { failed: true } });
    expect(deliveryCheck('it', whole, whole, 4)).toMatchObject({ passed: false, control: { failed: false } });
  });

  it('is read while it is written, in whole lines', () => {
    const folder = mkdtempSync(join(tmpdir(), 'schemaless-deliveries-'));
    const file = join(folder, 'file');
    using read = new NotedLines<Delivery>(file);
    expect(read.read()).toEqual([]);
    const deliveries = deliver(1, [1, 2]);
    using written = noteLines<Delivery>(file);
    for (const delivery of deliveries) written.note({ ...delivery, replay: true, at: 7 });
    appendFileSync(file, '{"shard":1,"added_id":3,"cell"');
    expect(read.read()).toEqual(deliveries.map((delivery) => ({ ...delivery, replay: true, at: 7 })));
    appendFileSync(file, ':"c","replay":false,"at":8}\n');
    expect(read.read().at(-1)).toEqual({ shard: 1, added_id: 3, cell: 'c', replay: false, at: 8 });
    rmSync(folder, { recursive: true });
  });
});

describe('the faults', () => {
  it('know when partitions are spread', () => {
    expect(isSpread([2, 2, 1], 3, 5)).toBe(true);
    expect(isSpread([3, 1, 1], 3, 5)).toBe(false);
    expect(isSpread([2, 2], 3, 5)).toBe(false);
    expect(isSpread([2, 1, 1], 3, 5)).toBe(false);
    expect(isSpread(undefined, 1, 1)).toBe(false);
  });
});
