import { commandOf, JsonServiceClient, ServiceError, type ServiceConfig } from './json-service.ts';

export class ConditionalCheckFailedException extends ServiceError {}

const DYNAMODB = {
  name: 'dynamodb',
  endpointVariable: 'AWS_ENDPOINT_URL_DYNAMODB',
  target: 'DynamoDB_20120810',
  contentType: 'application/x-amz-json-1.0',
  errors: { ConditionalCheckFailedException },
} as const;

/** Replaces `@aws-sdk/client-dynamodb` in the bundles: the operations that the store calls. */
export class DynamoDBClient extends JsonServiceClient {
  constructor(config?: ServiceConfig) {
    super(DYNAMODB, config);
  }
}

export const BatchGetItemCommand = commandOf('BatchGetItem');
export const DeleteItemCommand = commandOf('DeleteItem');
export const GetItemCommand = commandOf('GetItem');
export const PutItemCommand = commandOf('PutItem');
export const ScanCommand = commandOf('Scan');
export const UpdateItemCommand = commandOf('UpdateItem');
