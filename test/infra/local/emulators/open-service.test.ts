import { createServer } from 'node:http';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { awsLogin } from '../../../../infra/local/login/aws-login.ts';
import { dataFolder } from '../../../../infra/local/folder/data-folder.ts';
import { openService } from '../../../../infra/local/emulators/open-service.ts';
import { listen } from '../../../support/listen.ts';
import { stubEnvironment } from '../../../support/stub-environment.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

afterEach(() => vi.unstubAllEnvs());

const open = (name: 'sqs' | 'dynamodb', path: string) => openService(name, dataFolder(path), () => {});

describe('a service that is to be elsewhere', () => {
  it.each([
    ['sqs', 'AWS_ENDPOINT_URL_SQS', 'SQS'],
    ['dynamodb', 'AWS_ENDPOINT_URL_DYNAMODB', 'DynamoDB'],
  ] as const)('is an error that names the variable if no server answers: %s', async (name, variable, title) => {
    using folder = temporaryFolder();
    vi.stubEnv(variable, 'http://127.0.0.1:9');
    const nobody = `^${variable}: wanted an address where ${title} answers, got http://127\\.0\\.0\\.1:9: .*ECONNREFUSED`;
    await expect(open(name, folder.path)).rejects.toThrow(new RegExp(nobody, 'u'));
    vi.stubEnv(variable, 'localhost:4566');
    await expect(open(name, folder.path)).rejects.toThrow(
      `${variable}: wanted a URL such as http://127.0.0.1:4566, got "localhost:4566"`,
    );
  });

  it('is one if another server answers', async () => {
    using folder = temporaryFolder();
    const page = createServer((_, response) => void response.writeHead(404).end('<p>not here</p>'));
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', await listen(page));
    onTestFinished(() => void page.close());
    const refused = 'AWS_ENDPOINT_URL_SQS: wanted an address where SQS answers';
    await expect(open('sqs', folder.path)).rejects.toThrow(refused);
  });
});

describe('requests', () => {
  it('are signed as the environment says where a service is elsewhere, and only there', () => {
    stubEnvironment({
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token',
    });
    expect(awsLogin()).toEqual({
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:4566');
    expect(awsLogin()).toEqual({
      region: 'eu-west-1',
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: 'token' },
    });
  });
});
