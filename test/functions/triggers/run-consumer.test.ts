import '../support/quiet.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderOfTests } from '../../infra/support/folder-of-tests.ts';
import { messageOf } from '../../shared/triggers/consume/support/stage.ts';
import { until } from '../../support/until.ts';
import { triggerStage } from '../support/trigger-stage.ts';

const MODULE = resolve('test/functions/support/appending-consumer.ts');
const stage = await triggerStage();
const folder = folderOfTests();

async function start(
  file: string,
  parameters: readonly string[],
  callMs = 0,
  variables: Readonly<Record<string, string>> = {},
) {
  const notes = join(folder.path, file);
  await writeFile(notes, '');
  const child = spawn(process.execPath, ['functions/triggers/run-consumer.ts', ...parameters], {
    env: { ...process.env, ...stage.deployed.environment, APPEND_TO: notes, CALL_MS: String(callMs), ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let error = '';
  child.stderr?.on('data', (chunk: Buffer) => (error += chunk.toString()));
  return {
    child,
    notes: async () => (await readFile(notes, 'utf8')).split('\n').filter((line) => line !== ''),
    ended: once(child, 'close').then(([code]) => ({ code: Number(code), error })),
  };
}

describe('a consumer in a plain process', () => {
  it('calls the function of a Lambda handler; told to end, it finishes the call under way, and gives back the rest', async () => {
    const { row_key } = messageOf(17, 1);
    await stage.deployed.deployment.trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { fare: 12 } });
    await stage.send(17, 1);
    const consumer = await start('first', ['--trigger', 'bill_rider', '--module', MODULE], 1500);
    await until('the first cell is called for', async () => (await consumer.notes()).length === 1);
    await Promise.all([stage.send(4, 1), stage.send(5, 1), stage.send(6, 1)]);
    await until('the next is called for', async () => (await consumer.notes()).length === 3);
    expect((await consumer.notes()).slice(0, 2)).toEqual(['begin 17/1', 'end {"fare":12} 17/1']);
    expect(await stage.depth()).toBe(3);
    consumer.child.kill('SIGTERM');
    expect(await consumer.ended).toEqual({ code: 0, error: '' });
    expect(await consumer.notes()).toHaveLength(4);
    expect(await stage.depth()).toBe(2);

    // At once, though the queue hides messages for a quarter of an hour.
    const next = await start('next', ['--module', MODULE]);
    await until('the rest is done', async () => (await next.notes()).length === 4);
    next.child.kill('SIGINT');
    expect((await next.ended).code).toBe(0);
    expect(await stage.depth()).toBe(0);
  });

  it.each([
    [
      ['--module', 'functions/nothing.ts'],
      "--module: wanted the file that exports the trigger's handler, got functions/nothing.ts, which is not there\n",
    ],
    [
      ['--module', 'functions/environment/sqs.ts'],
      '--module: functions/environment/sqs.ts exports no handler made by triggerHandler',
    ],
    [['--module', MODULE, '--trigger', 'bill_driver'], 'is the function of bill_rider, not of bill_driver'],
  ])(
    'refuses %j',
    async (parameters, error) => {
      const { ended } = await start('refused', parameters);
      expect(await ended).toEqual({ code: 1, error: expect.stringContaining(error) });
    },
    30_000,
  );

  it('says what an example misses before there is a cell', async () => {
    const { ended } = await start('unset', ['--module', 'functions/examples/copy-cells.ts'], 0, { COPY_TO_URL: '' });
    const error = 'The environment variable COPY_TO_URL: wanted an http or https URL, got nothing\n';
    expect(await ended).toEqual({ code: 1, error });
  });

  it('says how it is run', async () => {
    const { ended } = await start('help', ['--help']);
    expect(await ended).toEqual({ code: 0, error: '' });
  });
});
