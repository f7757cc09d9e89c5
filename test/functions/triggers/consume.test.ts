import '../support/quiet.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../support/until.ts';
import { triggerStage } from '../support/trigger-stage.ts';

const stage = await triggerStage();

async function printedFor(shard: number, parameters: readonly string[]): Promise<readonly string[]> {
  await stage.send(shard, 1);
  const child = spawn(process.execPath, ['test/functions/support/consuming-program.ts', ...parameters], {
    env: { ...process.env, ...stage.deployed.environment, POWERTOOLS_METRICS_DISABLED: 'false' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  onTestFinished(() => void child.kill('SIGKILL'));
  await until('the cell is consumed', async () => (await stage.depth()) === 0);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  return printed.trimEnd().split('\n');
}

describe('what a program prints that consumes a trigger', () => {
  it('is its own lines alone', async () => {
    expect(await printedFor(4, [])).toEqual(['billed 4/1']);
  });

  it('has metrics for CloudWatch next to them if it asks for those', async () => {
    const [own, ...results] = await printedFor(5, ['--metrics']);
    expect(own).toBe('billed 5/1');
    expect(results.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ trigger_consumed: 1 })]);
  });
});
