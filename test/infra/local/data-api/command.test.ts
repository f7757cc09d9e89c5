import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCluster, parseFault, parseLimit, parseMysqlUrl } from '../../../../infra/local/data-api/flags.ts';
import { serverUrl, startCommand } from './started-command.ts';
import { callsOf, clientOf, failure, RESOURCE_ARN } from './with-data-api.ts';

const COMMAND = join(import.meta.dirname, '../../../../infra/local/data-api/command.ts');

describe('the command', () => {
  it('serves a server until it is told to end', async () => {
    const cluster = `${RESOURCE_ARN}=${serverUrl()}`;
    const flags = ['--cluster', cluster, '--port', '0', '--limit', 'row-bytes=off', '--fault', 'throttled=0'];
    const { child, output, url } = startCommand(process.execPath, COMMAND, ...flags);
    const { client, run } = callsOf(clientOf(await url()), undefined);
    expect(await run("SELECT REPEAT('x', 100000)")).toHaveProperty('records');
    await expect(run('SELECT 1', { resourceArn: `${RESOURCE_ARN}x` })).rejects.toMatchObject(
      failure('HttpEndpointNotEnabledException'),
    );
    await expect.poll(output).toMatch(/ExecuteStatement 400 \d+ ms HttpEndpointNotEnabledException: /);
    client.destroy();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('says what it lacks', async () => {
    const { child, output } = startCommand(process.execPath, COMMAND, '--port', '0');
    expect((await once(child, 'exit'))[0]).toBe(1);
    expect(output()).toContain('--mysql or --cluster: wanted at least one server, got none');
  });
});

describe('its flags', () => {
  it('are read', () => {
    expect(parseMysqlUrl('mysql://a%40b:p%3Aw@[::1]:3307')).toEqual({
      host: '::1',
      port: 3307,
      user: 'a@b',
      password: 'p:w',
    });
    expect(parseMysqlUrl('mysql://root@db')).toEqual({ host: 'db', port: 3306, user: 'root', password: '' });
    expect(parseCluster('arn:aws:rds:x=mysql://u:p@h')).toMatchObject({
      resourceArn: 'arn:aws:rds:x',
      user: 'u',
      host: 'h',
    });
    expect(parseLimit('statement-seconds=1.5')).toEqual({ statementMs: 1500 });
    expect(parseLimit('row-bytes=off')).toEqual({ rowBytes: Number.POSITIVE_INFINITY });
    expect(parseLimit('single-call=off')).toEqual({ singleCall: false });
    expect(parseFault('resuming=0.1')).toEqual({ kind: 'resuming', share: 0.1 });
  });

  it.each([
    [parseMysqlUrl, 'postgres://u:p@h', 'mysql://user:password@host:port'],
    [parseMysqlUrl, 'mysql://h:1/database', 'mysql://user:password@host:port'],
    [parseCluster, 'mysql://u:p@h', 'ARN=mysql://'],
    [parseLimit, 'rows=1', 'request-bytes'],
    [parseLimit, 'row-bytes=many', 'row-bytes= and a number over 0, or off'],
    [parseLimit, 'row-bytes=0', 'row-bytes= and a number over 0, or off'],
    [parseLimit, 'single-call=1', 'single-call=on or single-call=off'],
    [parseFault, 'resuming', 'KIND=SHARE'],
    [parseFault, 'fire=1', 'cut-after-commit'],
    [parseFault, 'resuming=2', 'from 0 to 1'],
  ] as const)('%o refuses %s', (parse, value, message) => {
    expect(() => parse(value)).toThrow(message);
    expect(() => parse(value)).toThrow(value.split('=')[0] ?? '');
  });
});
