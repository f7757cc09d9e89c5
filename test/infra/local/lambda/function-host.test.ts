import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isRunning } from '../../../../infra/local/platform/process-table.ts';
import { startStandIns, type StandInHost } from '../../support/stand-in-host.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TIMEOUT_MS = 1500;
const IDLE_MS = 1000;
/** Longer than any test: such a call ends with its instance. */
const FOREVER = { sleep: '1000000' };
const EVERYTHING = [10, 20_000, 300_000].flatMap((times) => ['x', '€', '\ufeff', '𝄞', ''].map((text) => [text, times]));

interface Host extends StandInHost {
  readonly invoke: (title: string, query?: Record<string, string>) => Promise<{ readonly body: Body }>;
  readonly answered: (title: string, query: Record<string, string>) => Promise<Record<string, unknown>>;
  readonly pidsOf: (title: string) => readonly number[];
  readonly stop: () => Promise<void>;
}

interface Body {
  readonly answered: number;
  readonly environment: Readonly<Record<string, string>>;
}

function open(mode: 'threads' | 'process', idleMs = 0): Host {
  const folder = temporaryFolder();
  const host = startStandIns(folder.path, mode, TIMEOUT_MS, idleMs);
  const { functions, log } = host;
  const answered: Host['answered'] = async (title, query) =>
    JSON.parse(await functions.invoke(title, JSON.stringify({ queryStringParameters: query })));
  return {
    ...host,
    answered,
    invoke: async (title, query = {}) => {
      const answer = await answered(title, query);
      return { ...answer, body: JSON.parse(String(answer['body'])) };
    },
    pidsOf: (title) =>
      functions
        .status()
        .find((status) => status.title === title)
        ?.instances.map(({ pid }) => pid) ?? [],
    async stop() {
      await functions.stop();
      await log.close();
      folder[Symbol.dispose]();
    },
  };
}

const errorOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

describe.each(['threads', 'process'] as const)('functions in %s', (mode) => {
  const host = open(mode);
  afterAll(() => host.stop());

  it('have an environment of their own, and nothing of ours', async () => {
    const { environment } = (await host.invoke('shared')).body;
    expect(environment).toMatchObject({
      GREETING: 'hello',
      AWS_LAMBDA_FUNCTION_NAME: 'stack-shared',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
      AWS_CONFIG_FILE: '/dev/null',
    });
    expect(environment).not.toHaveProperty('HOME');
    expect(process.env).not.toHaveProperty('GREETING');
  });

  it('give large answers and small ones whole, of any characters, many at once', async () => {
    const isWhole = async ([text = '', times = 0]: (string | number)[]): Promise<boolean> =>
      (await host.answered('shared', { text: String(text), times: String(times) }))['body'] ===
      String(text).repeat(Number(times));
    expect(await Promise.all(EVERYTHING.map(isWhole))).toEqual(EVERYTHING.map(() => true));
  });

  it('give answers of bytes as the base64 that they are, whatever their size', async () => {
    const sizes = [0, 1, 2, 3, 1000, 100_000];
    const wanted = (size: number): string => Buffer.alloc(size, Uint8Array.of(0xff, 0x00, 0x80)).toString('base64');
    expect(await Promise.all(sizes.map((size) => host.answered('shared', { binary: String(size) })))).toEqual(
      sizes.map((size) => ({ statusCode: 200, body: wanted(size), isBase64Encoded: true })),
    );
    const event = JSON.stringify({ queryStringParameters: { binary: '1000' } });
    const { body, decoded = false } = await host.functions.caller('shared')(event);
    // A thread decodes them itself.
    expect([decoded, typeof body]).toEqual(mode === 'threads' ? [true, 'object'] : [false, 'string']);
  });

  it('fail the call that throws, and write why into the log', async () => {
    await expect(host.invoke('shared', { throw: 'a reason' })).rejects.toThrow('shared threw Error: a reason');
    await expect(host.invoke('broken')).rejects.toThrow(
      /broken threw Error: .*wanted an exported function nothing, got undefined/u,
    );
    await expect.poll(() => readFileSync(host.log.path, 'utf8')).toMatch(/^\S+ shared \S+ Error: a reason$/mu);
  });

  it('fail what runs when they end or are killed, and start again at the next call', async () => {
    await expect(host.invoke('shared', { exit: '1' })).rejects.toThrow(/^shared ended before it answered/u);
    expect((await host.invoke('shared')).body.answered).toBe(1);
    const pids = host.pidsOf('shared').filter((pid) => pid !== process.pid);
    expect(pids).toHaveLength(mode === 'process' ? 1 : 0);
    const running = errorOf(host.invoke('shared', FOREVER));
    await host.functions.kill('shared');
    expect(await running).toMatch(/^shared ended before it answered/u);
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
    expect((await host.invoke('shared')).body.answered).toBe(1);
    await expect(host.functions.kill('other')).rejects.toThrow(
      'other: wanted one of the functions shared, alone, broken',
    );
  });
});

describe('instances', () => {
  let host: Host;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    host = open('threads', IDLE_MS);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await host.stop();
  });

  it('are replaced by others: they answer the calls under way, the others all that come later', async () => {
    const greeting = async (query = {}): Promise<unknown> =>
      (await host.invoke('alone', query)).body.environment['GREETING'];
    const before = greeting({ sleep: '200' });
    const made = host.functions.make(host.wanted('good day'));
    expect(made.changed.map(({ title }) => title)).toEqual(['shared', 'alone', 'broken']);
    made.takeOver();
    expect(await greeting()).toBe('good day');
    expect(await before).toBe('hello');
    expect(host.functions.make(host.wanted('good day')).changed).toEqual([]);
  });

  it('answer many calls at once when shared, some if there is a bound, else one each', async () => {
    await Promise.all(Array.from({ length: 5 }, () => host.invoke('shared', { sleep: '50' })));
    expect(host.pidsOf('shared')).toHaveLength(1);
    await Promise.all(Array.from({ length: 3 }, () => host.invoke('alone', { sleep: '50' })));
    expect(host.pidsOf('alone')).toHaveLength(3);
    await host.invoke('alone');
    expect(host.pidsOf('alone')).toHaveLength(3);
    host.functions.make({ ...host.wanted('hello'), atOnce: new Map([['alone', 2]]) }).takeOver();
    await Promise.all(Array.from({ length: 5 }, () => host.invoke('alone', { sleep: '50' })));
    expect(host.pidsOf('alone')).toHaveLength(3);
  });

  it('go when a call runs over its time, once their other calls are answered', async () => {
    await host.invoke('shared');
    const slow = errorOf(host.invoke('shared', FOREVER));
    vi.advanceTimersByTime(TIMEOUT_MS - 1);
    const other = host.invoke('shared', { sleep: '200' });
    vi.advanceTimersByTime(1);
    expect(await slow).toBe('shared timed out after 1.5 seconds');
    expect((await host.invoke('shared')).body.answered).toBe(1);
    expect((await other).body.answered).toBe(2);
    await expect.poll(() => host.pidsOf('shared').length).toBe(1);
  });

  it('are stopped after an idle time, one by one, and start again at the next call', async () => {
    await Promise.all(['shared', 'alone', 'alone'].map((title) => host.invoke(title)));
    expect(host.pidsOf('alone')).toHaveLength(2);
    vi.advanceTimersByTime(IDLE_MS - 1);
    await Promise.all(['shared', 'alone'].map((title) => host.invoke(title)));
    vi.advanceTimersByTime(1);
    await expect.poll(() => host.pidsOf('alone').length).toBe(1);
    expect((await host.invoke('shared')).body.answered).toBe(3);
    vi.advanceTimersByTime(IDLE_MS);
    await expect.poll(() => [...host.pidsOf('alone'), ...host.pidsOf('shared')]).toEqual([]);
    expect((await host.invoke('shared')).body.answered).toBe(1);
  });

  it('count their calls, and those that failed, in whatever way', async () => {
    const counts = () => host.functions.status().find(({ title }) => title === 'alone');
    await host.invoke('alone');
    await errorOf(host.invoke('alone', { throw: 'a reason' }));
    const late = errorOf(host.invoke('alone', FOREVER));
    vi.advanceTimersByTime(TIMEOUT_MS);
    await late;
    await errorOf(host.invoke('alone', { exit: '1' }));
    const running = errorOf(host.invoke('alone', FOREVER));
    expect(counts()).toMatchObject({ calls: 5, failed: 3 });
    await host.functions.kill('alone');
    await running;
    expect(counts()).toMatchObject({ calls: 5, failed: 4 });
  });
});
