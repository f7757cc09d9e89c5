import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { requestedAws } from './outside-aws.ts';

const DEAD = 'http://127.0.0.1:9';

describe('the SQS and DynamoDB of a run', () => {
  it('are its own by default, whatever the environment has', async () => {
    const environment = { AWS_ENDPOINT_URL_SQS: DEAD, AWS_ENDPOINT_URL: DEAD };
    expect(await requestedAws(environment)).toBeUndefined();
    expect(environment).toEqual({});
  });

  it('are where the variables say with SCHEMALESS_AWS=localstack, with the reason where they do not answer', async () => {
    const aws = await requestedAws({
      SCHEMALESS_AWS: 'localstack',
      AWS_ENDPOINT_URL: DEAD,
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:10',
    });
    expect(aws).toEqual({
      sqs: DEAD,
      dynamodb: 'http://127.0.0.1:10',
      unavailable: expect.stringMatching(
        /^SQS does not answer at http:\/\/127\.0\.0\.1:9 \(.*ECONNREFUSED.*\), DynamoDB does not answer at http:\/\/127\.0\.0\.1:10 \(/u,
      ),
    });
    expect(await requestedAws({ SCHEMALESS_AWS: 'localstack', AWS_ENDPOINT_URL_SQS: DEAD })).toMatchObject({
      sqs: DEAD,
      dynamodb: 'http://127.0.0.1:4566',
    });
  });

  it('are refused where they are anything else', async () => {
    await expect(requestedAws({ SCHEMALESS_AWS: 'LocalStack' })).rejects.toThrow(
      'SCHEMALESS_AWS: wanted built-in or localstack, got "LocalStack"',
    );
  });
});

/** Runs a file whose tests talk to a DynamoDB that does not answer. Returns the numbers of its tests by outcome. */
async function runWithout(
  unavailable: string | undefined,
): Promise<{ readonly skipped: number; readonly failed: number; readonly passed: number }> {
  const servers = { dynamo: DEAD, outsideAws: { sqs: DEAD, dynamodb: DEAD, unavailable } };
  const options = {
    config: false,
    run: true,
    watch: false,
    reporters: [['json', { stdout: true }]],
    hookTimeout: 20_000,
    provide: { servers },
  };
  const program = `const { startVitest } = await import('vitest/node'); await (await startVitest('test', ['test/shared/access/open-circuits.test.ts'], ${JSON.stringify(options)})).close(); process.exit();`;
  const { VITEST_WORKER_ID: _, ...env } = process.env;
  const run = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { numPendingTests, numFailedTests, numPassedTests, numTotalTests, success } = JSON.parse(
    await text(run.stdout),
  );
  expect(numTotalTests).toBeGreaterThan(0);
  expect(success).toBe(unavailable !== undefined);
  return { skipped: numPendingTests, failed: numFailedTests, passed: numPassedTests };
}

describe('a file whose tests talk to them', () => {
  it('is skipped where they do not answer, with no hook run', async () => {
    const { skipped, ...others } = await runWithout('nobody is there');
    expect(skipped).toBeGreaterThan(0);
    expect(others).toEqual({ failed: 0, passed: 0 });
  });

  it('fails where they are taken to be there, and are not: the control', async () => {
    expect(await runWithout(undefined)).toMatchObject({ passed: 0 });
  });
});
