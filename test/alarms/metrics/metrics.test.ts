import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseLogLine, type LogLine } from '../../../infra/local/control/read-logs.ts';
import { folderOfTests } from '../../infra/support/folder-of-tests.ts';
import { functionMetrics, logLines, takeMetrics, takeRequest } from './metrics.ts';
import { MetricStore } from './metric-store.ts';

const folder = folderOfTests();
const AT = Date.UTC(2026, 0, 1, 12);

const lineOf = (text: string): LogLine => {
  const line = parseLogLine(`2026-01-01T12:00:00.000Z gateway ${text}`);
  if (!line) throw new Error('no line');
  return line;
};

const totals = (
  store: MetricStore,
  namespace: string,
  names: readonly string[],
  dimensions: Readonly<Record<string, string>>,
  at = AT,
) => names.map((name) => store.statistic({ namespace, name, dimensions, statistic: 'Sum' }, at, at + 1));

it('metrics of functions are taken with their dimensions, and every value of a name', () => {
  const store = new MetricStore();
  const Metrics = [{ Name: 'stored' }, { Name: 'buffer_rows' }];
  const embedded = {
    _aws: { Timestamp: AT, CloudWatchMetrics: [{ Namespace: 'Schemaless', Dimensions: [['service']], Metrics }] },
    service: 'local',
    stored: [1, 2],
    buffer_rows: 7,
    request_id: 'order-17',
  };
  takeMetrics(store, lineOf(JSON.stringify(embedded)));
  takeMetrics(store, lineOf('{"message":"drained"}'));
  const names = ['stored', 'buffer_rows', 'request_id'];
  expect(totals(store, 'Schemaless', names, { service: 'local' })).toEqual([3, 7, undefined]);
  expect(totals(store, 'Schemaless', names, {})).toEqual([undefined, undefined, undefined]);
});

it('requests are counted, with those that failed and their times', () => {
  const store = new MetricStore();
  for (const [status, milliseconds] of [
    [201, 4],
    [409, 5],
    [503, 3001],
  ])
    takeRequest(store, 'api', lineOf(JSON.stringify({ status, milliseconds })));
  takeRequest(store, 'api', lineOf('refused GET /'));
  expect(totals(store, 'AWS/ApiGateway', ['Count', '5xx', 'Latency'], { ApiId: 'api' })).toEqual([3, 1, 3010]);
});

it('calls of a function count from the first poll on, with 0 errors of none, and those of another version from 0', () => {
  const store = new MetricStore();
  const take = functionMetrics(store);
  const polls = [
    [5, 2],
    [5, 2],
    [8, 2],
    [8, 3],
    [1, 1],
  ] as const;
  for (const [poll, [calls, failed]] of polls.entries())
    take([{ arn: 'arn:aws:lambda:us-east-1:0:function:write', calls, failed }], AT + poll);
  const found = polls.map((_, poll) =>
    totals(store, 'AWS/Lambda', ['Invocations', 'Errors'], { FunctionName: 'write' }, AT + poll),
  );
  const none = [undefined, undefined];
  expect(found).toEqual([none, none, [3, 0], [undefined, 1], [1, 1]]);
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
