import { commandOf, JsonServiceClient, ServiceError, type ServiceConfig } from './json-service.ts';

export class ResourceNotFoundException extends ServiceError {}

const SECRETS_MANAGER = {
  name: 'secretsmanager',
  endpointVariable: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
  target: 'secretsmanager',
  contentType: 'application/x-amz-json-1.1',
  errors: { ResourceNotFoundException },
} as const;

/** Replaces `@aws-sdk/client-secrets-manager` in the bundles: the operations that the store calls. */
export class SecretsManagerClient extends JsonServiceClient {
  constructor(config?: ServiceConfig) {
    super(SECRETS_MANAGER, config);
  }
}

export const DescribeSecretCommand = commandOf('DescribeSecret');
export const GetSecretValueCommand = commandOf('GetSecretValue');
export const PutSecretValueCommand = commandOf('PutSecretValue');
export const UpdateSecretVersionStageCommand = commandOf('UpdateSecretVersionStage');
