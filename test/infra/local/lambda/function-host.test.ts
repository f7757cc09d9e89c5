import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../../../../infra/local/process-table.ts';
import { startStandIns, type StandInHost } from '../../support/stand-in-host.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The message that a call fails with. */
async function errorOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'no error';
}

describe.each(['threads', 'process'] as const)('functions in %s', (mode) => {
  const folder = temporaryFolder();
  let host: StandInHost;
  beforeAll(() => {
    host = startStandIns(folder.path, mode, 1500);
  });
  afterAll(async () => {
    await host.functions.stop();
    await host.log.close();
    folder[Symbol.dispose]();
  });

  const answered = async (title: string, query: Record<string, string>) =>
    JSON.parse(await host.functions.invoke(title, JSON.stringify({ queryStringParameters: query })));
  const invoke = async (title: string, query: Record<string, string>) => {
    const answer = await answered(title, query);
    return { ...answer, body: answer.body === undefined ? undefined : JSON.parse(answer.body) };
  };
  const pidsOf = (title: string) =>
    host.functions
      .status()
      .find((status) => status.title === title)
      ?.instances.map(({ pid }) => pid) ?? [];

  it('have an environment of their own, and nothing of ours', async () => {
    const { body } = await invoke('shared', {});
    expect(body.environment).toMatchObject({
      GREETING: 'hello',
      AWS_LAMBDA_FUNCTION_NAME: 'stack-shared',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
      AWS_CONFIG_FILE: '/dev/null',
    });
    expect(body.environment).not.toHaveProperty('HOME');
    expect(process.env).not.toHaveProperty('GREETING');
  });

  it('are taken over by others: calls under way are answered by those before, next ones by those after', async () => {
    const greeting = async (): Promise<string> => (await invoke('alone', { sleep: '300' })).body.environment.GREETING;
    const before = greeting();
    await expect.poll(() => pidsOf('alone').length).toBe(1);
    const made = host.functions.make(host.wanted('good day'));
    expect(made.changed.map(({ title }) => title)).toEqual(['shared', 'alone', 'broken']);
    made.takeOver();
    expect(await greeting()).toBe('good day');
    expect(await before).toBe('hello');
    expect(host.functions.make(host.wanted('good day')).changed).toEqual([]);
    host.functions.make(host.wanted('hello')).takeOver();
  });

  it('answer many calls at once in one instance when shared, else in one each', async () => {
    await Promise.all(Array.from({ length: 5 }, () => invoke('shared', { sleep: '50' })));
    expect(pidsOf('shared')).toHaveLength(1);
    await Promise.all(Array.from({ length: 3 }, () => invoke('alone', { sleep: '100' })));
    expect(pidsOf('alone')).toHaveLength(3);
    await invoke('alone', {});
    expect(pidsOf('alone')).toHaveLength(3);
  });

  it('give large answers and small ones whole, of any characters, many at once', async () => {
    const texts = ['x', '€', '\ufeff', '𝄞', ''];
    const isWhole = async (text: string, times: number): Promise<boolean> =>
      (await answered('shared', { text, times: String(times) })).body === text.repeat(times);
    const whole = [10, 20_000, 300_000].flatMap((times) => texts.map((text) => isWhole(text, times)));
    expect(await Promise.all(whole)).toEqual(whole.map(() => true));
  });

  it('give answers of bytes as the base64 that they are, whatever their size', async () => {
    const sizes = [0, 1, 2, 3, 1000, 100_000];
    expect(await Promise.all(sizes.map((size) => answered('shared', { binary: String(size) })))).toEqual(
      sizes.map((size) => ({
        statusCode: 200,
        body: Buffer.alloc(size, Uint8Array.of(0xff, 0x00, 0x80)).toString('base64'),
        isBase64Encoded: true,
      })),
    );
  });

  it('decode answers of bytes where they run, if that is a thread', async () => {
    const event = JSON.stringify({ queryStringParameters: { binary: '1000' } });
    const { body, decoded = false } = await host.functions.caller('shared')(event);
    expect(decoded).toBe(mode === 'threads');
    expect(typeof body).toBe(mode === 'threads' ? 'object' : 'string');
  });

  it('fail the call that throws, and write why into the log', async () => {
    await expect(invoke('shared', { throw: 'a reason' })).rejects.toThrow('shared threw Error: a reason');
    await expect(invoke('broken', {})).rejects.toThrow(
      /broken threw Error: .*wanted an exported function nothing, got undefined/u,
    );
    await expect.poll(() => readFileSync(host.log.path, 'utf8')).toMatch(/^\S+ shared \S+ Error: a reason$/mu);
  });

  it('fail a call that runs over its time, and are replaced without harm to others', async () => {
    const { body: before } = await invoke('shared', {});
    const slow = errorOf(invoke('shared', { sleep: '3000' }));
    await sleep(1000);
    const other = invoke('shared', { sleep: '800' });
    expect(await slow).toBe('shared timed out after 1.5 seconds');
    const { body: after } = await invoke('shared', {});
    expect(before.answered).toBeGreaterThan(1);
    expect(after.answered).toBe(1);
    await expect(other).resolves.toMatchObject({ statusCode: 201 });
    await expect.poll(() => pidsOf('shared').length).toBe(1);
  });

  it('fail what runs when they end or are killed, and start again at the next call', async () => {
    await expect(invoke('shared', { exit: '1' })).rejects.toThrow(/^shared ended before it answered/u);
    await expect(invoke('shared', {})).resolves.toMatchObject({ body: { answered: 1 } });
    const pids = pidsOf('shared').filter((pid) => pid !== process.pid);
    expect(pids).toHaveLength(mode === 'process' ? 1 : 0);
    const running = errorOf(invoke('shared', { sleep: '500' }));
    await sleep(50);
    await host.functions.kill('shared');
    expect(await running).toMatch(/^shared ended before it answered/u);
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
    await expect(invoke('shared', {})).resolves.toMatchObject({ body: { answered: 1 } });
    await expect(host.functions.kill('other')).rejects.toThrow(
      'other: wanted one of the functions shared, alone, broken',
    );
  });

  it('count their calls, and those that failed, in whatever way', async () => {
    const countsOf = () => {
      const { calls = 0, failed = 0 } = host.functions.status().find(({ title }) => title === 'alone') ?? {};
      return { calls, failed };
    };
    const before = countsOf();
    await invoke('alone', {});
    await errorOf(invoke('alone', { throw: 'a reason' }));
    await errorOf(invoke('alone', { exit: '1' }));
    await errorOf(invoke('alone', { sleep: '3000' }));
    const running = errorOf(invoke('alone', { sleep: '500' }));
    expect(countsOf()).toEqual({ calls: before.calls + 5, failed: before.failed + 3 });
    await host.functions.kill('alone');
    await running;
    expect(countsOf()).toEqual({ calls: before.calls + 5, failed: before.failed + 4 });
  });
});

describe.each(['threads', 'process'] as const)('idle functions in %s', (mode) => {
  it('are let go, one by one, and start again at the next call', async () => {
    using folder = temporaryFolder();
    const { functions, log } = startStandIns(folder.path, mode, 5000, 1000);
    const instances = (title: string) => functions.status().find((one) => one.title === title)?.instances.length;
    const invoke = async (title: string, query: Record<string, string>) =>
      JSON.parse(JSON.parse(await functions.invoke(title, JSON.stringify({ queryStringParameters: query }))).body) as {
        readonly answered: number;
      };
    try {
      await Promise.all([invoke('alone', { sleep: '10' }), invoke('alone', { sleep: '2500' })]);
      // The one that slept has just ended, the other had nothing to do for longer than it may.
      expect(instances('alone')).toBe(1);
      await expect.poll(() => instances('alone')).toBe(0);
      await expect.poll(() => instances('shared')).toBe(0);
      expect(await invoke('shared', {})).toMatchObject({ answered: 1 });
      expect(instances('shared')).toBe(1);
    } finally {
      await functions.stop();
      await log.close();
    }
  });

  it('that are called again in time stay', async () => {
    using folder = temporaryFolder();
    const { functions, log } = startStandIns(folder.path, mode, 5000, 1500);
    try {
      for (let call = 1; call <= 4; call += 1) {
        const { body } = JSON.parse(await functions.invoke('shared', JSON.stringify({ queryStringParameters: {} })));
        expect(JSON.parse(body)).toMatchObject({ answered: call });
        await sleep(600);
      }
    } finally {
      await functions.stop();
      await log.close();
    }
  });
});
