import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { localSigner } from '../../infra/local/login/clients.ts';
import { prove } from '../../infra/local/stack/proof.ts';
import { ROUTES } from '../../shared/api/operations.ts';
import { loadDefinitions } from '../../shared/definitions/load-definitions.ts';
import { temporaryFolder } from '../infra/support/temporary-folder.ts';
import { SUITE_INDEXES } from '../support/index-conformance.ts';
import { localStack } from '../support/local-stack.ts';
import { AT_ONCE, mixedUp } from '../support/side-by-side.ts';

/** Ends what hangs: a suite next to 64 requests, and two minutes of puts. */
vi.setConfig({ testTimeout: 600_000 });

const folder = temporaryFolder();
const { access } = inject('servers');
const stack = localStack(folder, { groups: 3, readers: 1, shards: 16, checkSignatures: true, concurrency: AT_ONCE });

/** Runs a program of the project with nothing in its environment but credentials, and says how it ended. */
async function run(
  file: string,
  parameters: readonly string[],
  secret = 'local',
): Promise<{ readonly code: number; readonly output: string; readonly error: string }> {
  const env = { PATH: process.env['PATH'] ?? '', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: secret };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(PROJECT_ROOT, file), ...parameters], {
      cwd: PROJECT_ROOT,
      env,
    });
    return { code: 0, output: stdout, error: stderr };
  } catch (error) {
    const { code, stdout, stderr } = Object(error);
    return { code, output: stdout, error: stderr };
  }
}

const smoke = (secret?: string) => run('test/smoke/smoke.ts', [stack().url], secret);

describe('npm run smoke, against a local stack that checks signatures', () => {
  it('checks it whole next to 64 requests at once, and says what it found', async () => {
    const end = new AbortController();
    const smoking = smoke().finally(() => end.abort());
    const mixed: string[] = [];
    while (!end.signal.aborted) mixed.push(...(await mixedUp(stack(), localSigner())));
    const { code, output, error } = await smoking;
    expect([code, error, mixed], output).toEqual([0, '', []]);
    for (const suite of ['a datastore', 'indexes', 'the environment', 'forgetting'])
      expect(output).toMatch(new RegExp(`^smoke: ${suite}: \\d+ of \\d+ passed`, 'mu'));
    expect(output).toMatch(/^an index showed a cell \d+ ms after its put was answered$/mu);
    expect(output).toMatch(/^the function of a trigger had written \d+ ms after the put was answered$/mu);
    // Skips are printed, and there are no others.
    const skipped = output.match(/^skipped: .*$/gmu) ?? [];
    expect(skipped).toHaveLength(access === 'data-api' ? 2 : 1);
    expect(skipped).toContainEqual(expect.stringMatching(/isolates datastores: there is one datastore to write to$/u));
    expect(output).toMatch(new RegExp(`^[5-9]\\d checks passed, ${skipped.length} skipped, in \\d+ s$`, 'mu'));
  });

  it('says in one line that it is not allowed in', async () => {
    const { code, output, error } = await smoke('another');
    expect([code, output]).toEqual([1, '']);
    expect(error).toMatch(/^smoke: \S+\/v1\/health was answered 403: the access key local may not call it [^\n]*\n$/u);
  });
});

describe('npm run first-day, against the same stack', () => {
  const firstDay = (group: string) =>
    run('test/first-day/first-day.ts', [
      stack().url,
      '--samples=2',
      `--data=${join(folder.path, 'data')}`,
      `--failover=${group}`,
    ]);
  const LOST_WRITER = 'A writer that is lost, under load';

  it('reports each row, and asks none of them that needs AWS', async () => {
    const { code, output, error } = await firstDay('group-1');
    expect(code, error).toBe(0);
    for (const row of ['A burst, as its callers see it', 'Latency by route', 'Lags', LOST_WRITER])
      expect(output).toContain(`| ${row} | passed |`);
    for (const row of ['Cold starts', 'Pinned connections', 'The bill'])
      expect(output).toContain(`| ${row} | not asked here: one machine has no `);
  });

  it('ends with 1 if a row fails', async () => {
    const { code, output } = await firstDay('group-9');
    expect(output).toContain(`| ${LOST_WRITER} | FAILED: --failover: wanted a group with a reader, got group-9 |`);
    expect([code, output.match(/\| passed \|/gu)?.length]).toEqual([1, 3]);
  });
});

it('the datastore smoke has the indexes that the suite is about', () => {
  const found = loadDefinitions(join(PROJECT_ROOT, 'infra/datastores')).datastores.find(({ name }) => name === 'smoke');
  expect(found?.indexes.map(({ name }) => name).sort()).toEqual(SUITE_INDEXES.map(({ name }) => name).sort());
  for (const index of SUITE_INDEXES) expect(found?.indexes.find(({ name }) => name === index.name)).toEqual(index);
});

describe('a local stack that checks signatures', () => {
  it('refuses unsigned requests on every route', async () => {
    const answers = await Promise.all(
      ROUTES.map(async ({ method, path }) => {
        const answer = await fetch(
          `${stack().url}${path.replace('{datastore}', 'smoke').replaceAll(/\{\w+\}/gu, '1')}`,
          {
            method,
          },
        );
        return `${method} ${path}: ${answer.status} ${await answer.text()}`;
      }),
    );
    expect(answers).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}: 403 {"message":"Forbidden"}`));
  });

  it('proves itself, and shows the states of its triggers, with requests that are signed', async () => {
    expect(
      await prove({ url: stack().url, datastores: ['smoke', 'trips'], readers: false, sign: localSigner() }),
    ).toHaveLength(2);
    // A busy stack may not know its triggers' states at once.
    const status = async (): Promise<string> =>
      (await run('infra/local/commands/control.ts', ['status', '--data', join(folder.path, 'data')])).output;
    await expect.poll(status).toMatch(/^smoke\/echo +running [^]*^trips\/bill_rider +running /mu);
  });
});
