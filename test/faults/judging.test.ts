import { describe, expect, it } from 'vitest';
import type { NewCell } from '../../shared/cell.ts';
import type { Check } from './fault-run.ts';
import { Ledger } from './load/ledger.ts';
import { compareKept, holesIn, markOf, type StoredLog } from './stored-cells.ts';
import { judgeReaders } from './log/judge-readers.ts';
import type { SeenLog } from './log/log-readers.ts';
import { runLines, summaryLines } from './report.ts';

const cell = (ref_key: number): NewCell => ({
  row_key: '6e3a0f9c-0000-4000-8000-000000000001',
  column_name: 'BASE',
  ref_key,
  body: { ref_key },
});
const log = (ids: readonly number[], marks = ids): StoredLog => ({
  shard: 0,
  ids,
  marks,
  parts: 0,
  timesBack: 0,
});

describe('what readers saw', () => {
  const judge = (ids: readonly number[], marks: readonly number[] = ids) => {
    const reader: SeenLog = {
      role: 'writer',
      shards: [{ ids, marks, timesBack: 0 }],
      reads: { writer: 1, reader: 0 },
      failures: 0,
      reachedEnd: true,
    };
    const { skipped, outOfOrder, different } = judgeReaders([reader], [log([1, 2, 3, 4])]);
    return { skipped, outOfOrder, different };
  };

  it('is clean when each cell was seen once, in order', () => {
    expect(judge([1, 2, 3, 4])).toEqual({ skipped: 0, outOfOrder: 0, different: 0 });
  });

  it('counts skipped, repeated, late and different cells', () => {
    expect(judge([1, 3, 4])).toEqual({ skipped: 1, outOfOrder: 0, different: 0 });
    expect(judge([1, 2, 2, 3, 4])).toEqual({ skipped: 0, outOfOrder: 1, different: 0 });
    expect(judge([1, 3, 2, 4])).toEqual({ skipped: 0, outOfOrder: 1, different: 0 });
    expect(judge([1, 2, 3, 4], [1, 2, 9, 4])).toEqual({ skipped: 0, outOfOrder: 0, different: 1 });
  });
});

describe('what was acknowledged', () => {
  const acked = (ledger: Ledger) => ledger.written().acked;

  it('is lost, moved or doubled', () => {
    const ledger = new Ledger();
    for (const [position, ref] of [1, 2, 3].entries())
      ledger.note(cell(ref), { outcome: 'stored', shard: 0, added_id: position + 1 });
    ledger.note(cell(4), { outcome: 'buffered', shard: 0, copies: 2 });
    const marks = [1, 2, 3, 4].map((ref) => markOf(cell(ref)));
    expect(compareKept(acked(ledger), [log([1, 2, 3, 4], marks)])).toMatchObject({ lost: 0, moved: 0, doubled: 0 });
    const withoutSecond = marks.filter((_, position) => position !== 1);
    expect(compareKept(acked(ledger), [log([1, 3, 4], withoutSecond)])).toMatchObject({
      lost: 1,
      moved: 0,
      doubled: 0,
    });
    expect(compareKept(acked(ledger), [log([1, 2, 4, 3], [...marks])])).toEqual({
      lost: 0,
      moved: 1,
      movedExamples: [`${cell(3).row_key} of shard 0 was answered 3, and is at 4`],
      doubled: 0,
    });
    const twice = [...marks, marks[0] ?? 0];
    expect(compareKept(acked(ledger), [log([1, 2, 3, 4, 5], twice)])).toMatchObject({ lost: 0, doubled: 1 });
    expect(holesIn([log([1, 2, 5])])).toBe(2);
  });

  it('must not contradict itself', () => {
    const ledger = new Ledger();
    ledger.note(cell(1), { outcome: 'buffered', shard: 0, copies: 1 });
    ledger.note(cell(1), { outcome: 'stored', shard: 0, added_id: 5 });
    ledger.note(cell(1), { outcome: 'stored_before', shard: 0, added_id: 5 });
    ledger.note(cell(2), { outcome: 'unavailable', shard: 0, reason: '' });
    expect(ledger.written()).toMatchObject({
      wrong: 0,
      outcomes: { stored: 1, stored_before: 1, buffered: 1, unavailable: 1 },
    });
    expect(acked(ledger)).toMatchObject([{ ref_key: 1, added_id: 5 }]);
    ledger.note(cell(1), { outcome: 'stored_before', shard: 0, added_id: 6 });
    ledger.note(cell(1), { outcome: 'stored', shard: 0, added_id: 5 });
    ledger.note(cell(1), { outcome: 'conflict', shard: 0 });
    expect(ledger.written().wrong).toBe(3);
  });
});

it('a check whose control does not fail is shown as failed', () => {
  const output = { what: 'lost', result: '0', bar: '0' };
  const check = (passed: boolean, failed: boolean): Check => ({ ...output, passed, control: { result: '9', failed } });
  const run = { name: 'kill', promise: 'p', fault: 'f', control: 'c' };
  const checks = [check(true, true), check(true, false), check(false, true)];
  const outcome = { checks, cells: 1, engine: 'MariaDB 10.11.6', notes: [] };
  const lines = runLines({ run, outcome, seed: '1', seconds: 2 }).slice(-4, -1);
  expect(lines.map((line) => line.split(/ {2,}/u).at(-1))).toEqual(['PASS', 'FAIL: the control did not fail', 'FAIL']);
  expect(summaryLines([{ run, outcome, seed: '1', seconds: 2 }])).toHaveLength(4);
});
