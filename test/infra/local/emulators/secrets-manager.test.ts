import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, it, onTestFinished } from 'vitest';
import { startSecretsManager } from '../../../../infra/local/emulators/secrets-manager.ts';

it('the local Secrets Manager gives secrets by ARN and by name to the SDK', async () => {
  const server = await startSecretsManager();
  const client = new SecretsManagerClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  onTestFinished(async () => {
    client.destroy();
    await server.close();
  });
  const arn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:login';
  server.setSecrets(new Map([[arn, '{"username":"someone"}']]));
  expect(await client.send(new GetSecretValueCommand({ SecretId: arn }))).toMatchObject({
    ARN: arn,
    Name: 'login',
    SecretString: '{"username":"someone"}',
  });
  expect(await client.send(new GetSecretValueCommand({ SecretId: 'login' }))).toMatchObject({ ARN: arn });
  await expect(client.send(new GetSecretValueCommand({ SecretId: 'log' }))).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
  await expect(client.send(new PutSecretValueCommand({ SecretId: 'login', SecretString: '' }))).rejects.toMatchObject({
    name: 'InvalidRequestException',
  });
});
