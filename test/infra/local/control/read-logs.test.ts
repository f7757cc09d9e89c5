import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { logLineAsJson, showLogLine, readLogs, type WantedLines } from '../../../../infra/local/control/read-logs.ts';
import { openFunctionLog } from '../../../../infra/local/lambda/function-log.ts';
import { dataFolder } from '../../../../infra/local/folder/data-folder.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
const data = dataFolder(folder.path);

beforeEach(() => {
  const opened = {
    level: 'WARN',
    message: 'circuit opened on group-1',
    request_id: 'order-17',
    event: { kind: 'circuit_opened' },
  };
  const answered = { request_id: 'order-17', gateway_request_id: 'gate-9', status: 500 };
  writeFileSync(`${data.functionLog}.1`, line('00:00:01.000Z', 'write-cells', { message: 'older' }));
  writeFileSync(
    data.functionLog,
    line('00:00:03.000Z', 'write-cells', opened) +
      line('00:00:03.500Z', 'write-cells', { ...opened, request_id: 'order-171' }) +
      '2026-11-24T00:00:04.000Z gateway gate-9 write-cells ended before it answered\n' +
      'a line of nobody\n',
  );
  writeFileSync(data.requestLog, line('00:00:05.000Z', 'gateway', answered));
  writeFileSync(data.metricLog, line('00:00:02.000Z', 'write-cells', { _aws: {}, stored: 1, request_id: 'order-17' }));
});

function line(time: string, title: string, fields: object): string {
  return `2026-11-24T${time} ${title} ${JSON.stringify(fields)}\n`;
}

const shown = (wanted: WantedLines): Promise<readonly string[]> => Array.fromAsync(readLogs(data, wanted), showLogLine);

describe('the logs of a stack', () => {
  it('give every line of a request in the order of time, by the id of its caller or of the gateway', async () => {
    const all = [
      '00:00:02.000 write-cells counted stored=1 request_id=order-17',
      '00:00:03.000 write-cells WARN circuit opened on group-1 event={"kind":"circuit_opened"} request_id=order-17',
      '00:00:04.000 gateway gate-9 write-cells ended before it answered',
      '00:00:05.000 gateway gateway_request_id=gate-9 status=500 request_id=order-17',
    ];
    expect(await shown({ requestId: 'order-17' })).toEqual(all);
    expect(await shown({ requestId: 'gate-9' })).toEqual(all);
    expect(await shown({ requestId: 'order-1' })).toEqual([]);
  });

  it('give what one function wrote, since a time, those set aside too', async () => {
    expect(await shown({ title: 'write-cells' })).toHaveLength(3);
    expect(await shown({ title: 'write-cells', since: '2026-11-24T00:00:03.100Z' })).toEqual([
      expect.stringContaining('request_id=order-171'),
    ]);
  });

  it('are followed as lines come, whole lines alone', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    const following = (async () => {
      for await (const one of readLogs(data, { title: 'read-cells' }, stop.signal)) lines.push(logLineAsJson(one));
    })();
    appendFileSync(data.functionLog, '2026-11-24T00:00:06.000Z read-cells {"mess');
    appendFileSync(data.requestLog, line('00:00:06.500Z', 'read-cells', { message: 'first' }));
    await expect.poll(() => lines.length).toBe(1);
    appendFileSync(data.functionLog, 'age":"zweite €"}\n');
    await expect
      .poll(() => lines.map((one) => JSON.parse(one)))
      .toEqual([
        { message: 'first', time: '2026-11-24T00:00:06.500Z', function: 'read-cells' },
        { message: 'zweite €', time: '2026-11-24T00:00:06.000Z', function: 'read-cells' },
      ]);
    stop.abort();
    await following;
  });

  it('have figures in a file of their own', async () => {
    const log = openFunctionLog(join(folder.path, 'said.log'), join(folder.path, 'counted.log'));
    log.write('write-cells', 1, Buffer.from('{"_aws":{},"stored":1}\n{"message":"said"}\n'));
    await log.close();
    const own = { ...data, functionLog: log.path, metricLog: join(folder.path, 'counted.log'), requestLog: 'none' };
    expect((await Array.fromAsync(readLogs(own, {}), showLogLine)).map((one) => one.slice(13))).toEqual([
      'write-cells said',
    ]);
  });
});
