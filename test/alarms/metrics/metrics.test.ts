import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseLogLine, type LogLine } from '../../../infra/local/control/log-line.ts';
import { folderOfTests } from '../../infra/support/folder-of-tests.ts';
import { functionMetrics } from './function-metrics.ts';
import { logLines } from './log-lines.ts';
import { takeFigures, takeRequest } from './logged-metrics.ts';
import { MetricStore } from './metric-store.ts';

const folder = folderOfTests();
const AT = Date.UTC(2026, 0, 1, 12);

const lineOf = (text: string): LogLine => {
  const line = parseLogLine(`2026-01-01T12:00:00.000Z gateway ${text}`);
  if (!line) throw new Error('no line');
  return line;
};

it('figures of functions are taken with their dimensions, and every value of a name', () => {
  const store = new MetricStore();
  const embedded = {
    _aws: {
      Timestamp: AT,
      CloudWatchMetrics: [
        { Namespace: 'Schemaless', Dimensions: [['service']], Metrics: [{ Name: 'stored' }, { Name: 'buffer_rows' }] },
      ],
    },
    service: 'local',
    stored: [1, 2],
    buffer_rows: 7,
    // Of no metric.
    request_id: 'order-17',
  };
  takeFigures(store, lineOf(JSON.stringify(embedded)));
  takeFigures(store, lineOf('{"message":"drained"}'));
  const sum = (name: string, dimensions: Readonly<Record<string, string>>): number | undefined =>
    store.statistic({ namespace: 'Schemaless', name, dimensions, statistic: 'Sum' }, AT, AT + 1);
  expect([sum('stored', { service: 'local' }), sum('buffer_rows', { service: 'local' })]).toEqual([3, 7]);
  expect([sum('stored', {}), sum('request_id', { service: 'local' })]).toEqual([undefined, undefined]);
});

it('requests are counted, those that were not served too, and how long they took', () => {
  const store = new MetricStore();
  for (const [status, milliseconds] of [
    [201, 4],
    [409, 5],
    [503, 3001],
  ])
    takeRequest(store, 'api', lineOf(JSON.stringify({ status, milliseconds })));
  takeRequest(store, 'api', lineOf('refused GET /'));
  const of = (name: string, statistic: string): number | undefined =>
    store.statistic({ namespace: 'AWS/ApiGateway', name, dimensions: { ApiId: 'api' }, statistic }, AT, AT + 1);
  expect([of('Count', 'Sum'), of('5xx', 'Sum'), of('Latency', 'Maximum')]).toEqual([3, 1, 3001]);
});

it('calls of a function count from the first look on, errors of none are 0, and another version counts anew', () => {
  const store = new MetricStore();
  const take = functionMetrics(store);
  const looks = [
    [5, 2],
    [5, 2],
    [8, 2],
    [8, 3],
    [1, 1],
  ] as const;
  for (const [look, [calls, failed]] of looks.entries())
    take([{ arn: 'arn:aws:lambda:us-east-1:0:function:write', calls, failed }], AT + look);
  const of = (name: string): readonly (number | undefined)[] =>
    looks.map((_, look) =>
      store.statistic(
        { namespace: 'AWS/Lambda', name, dimensions: { FunctionName: 'write' }, statistic: 'Sum' },
        AT + look,
        AT + look + 1,
      ),
    );
  expect(of('Invocations')).toEqual([undefined, undefined, 3, undefined, 1]);
  expect(of('Errors')).toEqual([undefined, undefined, 0, 1, 1]);
});

it('a log is read on from where it ended, its last line once that is whole', () => {
  const path = join(folder.path, 'some.log');
  const lines = logLines(path);
  const messages = (): readonly unknown[] => lines().map(({ fields }) => fields['message']);
  expect(messages()).toEqual([]);
  writeFileSync(path, '2026-01-01T12:00:00.000Z one first\n2026-01-01T12:00:00.000Z one sec');
  expect(messages()).toEqual(['first']);
  appendFileSync(path, 'ond\nno line of a log\n');
  expect(messages()).toEqual(['second']);
  expect(messages()).toEqual([]);
});
