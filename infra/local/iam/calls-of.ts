import type { IncomingMessage } from 'node:http';
import { localArn } from '../arn.ts';
import { LEADING_KEYS, type Call } from './statement.ts';

/** Returns the calls that a request needs rights for: one for each table or item. */
export type CallsOf = (request: Pick<IncomingMessage, 'headers' | 'url'>, body: string) => readonly Call[];

const PARTITION_KEY = 'pk';

type Item = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface TableRequest {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, TableRequest>>[];
}

/** Source: "Actions, resources, and condition keys for Amazon DynamoDB". */
export const callsOfDynamoDb: CallsOf = ({ headers }, body) => {
  const operation = operationOf(headers);
  const request = JSON.parse(body) as TableRequest;
  const one = (action: string, part: TableRequest): Call => ({
    action: `dynamodb:${action}`,
    resource: part.TableName === undefined ? '*' : tableArn(part.TableName),
    ...contextOf([keyOf(part.Key ?? part.Item) ?? keyOfQuery(part)].filter((key) => key !== undefined)),
  });
  if (operation.startsWith('Batch'))
    return Object.entries(request.RequestItems ?? {}).map(([table, of]) => ({
      action: `dynamodb:${operation}`,
      resource: tableArn(table),
      ...contextOf(keysIn(of)),
    }));
  if (operation.startsWith('Transact'))
    return (request.TransactItems ?? []).flatMap((item) =>
      Object.entries(item).map(([kind, part]) => one(TRANSACTED[kind] ?? kind, part)),
    );
  return [one(operation, request)];
};

const TRANSACTED: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

/** Source: "Actions, resources, and condition keys for Amazon SQS"; batches need the rights of their parts. */
export const callsOfSqs: CallsOf = ({ headers }, body) => {
  const operation = operationOf(headers).replace(/Batch$/u, '');
  const { QueueUrl, QueueName } = JSON.parse(body) as { readonly QueueUrl?: string; readonly QueueName?: string };
  const name = QueueName ?? QueueUrl?.slice(QueueUrl.lastIndexOf('/') + 1);
  return [{ action: `sqs:${operation}`, resource: name === undefined ? '*' : localArn('sqs', name) }];
};

export const callsOfSecretsManager: CallsOf = ({ headers }, body) => {
  const { SecretId } = JSON.parse(body) as { readonly SecretId?: string };
  const resource = SecretId?.startsWith('arn:') ? SecretId : localArn('secretsmanager', `secret:${SecretId ?? ''}`);
  return [{ action: `secretsmanager:${operationOf(headers)}`, resource }];
};

/** The Data API reads the secret with the caller's rights. */
export const callsOfRdsData: CallsOf = ({ url = '' }, body) => {
  const { resourceArn = '*', secretArn = '*' } = JSON.parse(body) as { resourceArn?: string; secretArn?: string };
  const path = url.split('?', 1)[0];
  return [
    { action: `rds-data:${path === '/Execute' ? 'ExecuteStatement' : path?.slice(1)}`, resource: resourceArn },
    { action: 'secretsmanager:GetSecretValue', resource: secretArn },
  ];
};

/** `x-amz-target: DynamoDB_20120810.GetItem` */
function operationOf(headers: IncomingMessage['headers']): string {
  const target = String(headers['x-amz-target']);
  return target.slice(target.lastIndexOf('.') + 1);
}

function tableArn(name: string): string {
  return name.startsWith('arn:') ? name : localArn('dynamodb', `table/${name}`);
}

function keyOf(item: Item | undefined): string | undefined {
  const [value] = Object.values(item?.[PARTITION_KEY] ?? {});
  return value === undefined ? undefined : String(value);
}

/** `pk = :key`, the only condition that a query can have on a partition key. */
function keyOfQuery(query: TableRequest): string | undefined {
  const { KeyConditionExpression = '', ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = query;
  const [, , name = ''] =
    [...KeyConditionExpression.matchAll(/(#?\w+)\s*=\s*(:\w+)/gu)].find(
      ([, attribute = '']) => (ExpressionAttributeNames[attribute] ?? attribute) === PARTITION_KEY,
    ) ?? [];
  const [value] = Object.values(ExpressionAttributeValues[name] ?? {});
  return value === undefined ? undefined : String(value);
}

function keysIn(requests: unknown): readonly string[] {
  const { Keys } = Object(requests) as { readonly Keys?: readonly Item[] };
  if (Keys !== undefined) return Keys.flatMap((key) => keyOf(key) ?? []);
  return (Array.isArray(requests) ? (requests as readonly Readonly<Record<string, TableRequest>>[]) : []).flatMap(
    ({ PutRequest, DeleteRequest }) => keyOf(PutRequest?.Item ?? DeleteRequest?.Key) ?? [],
  );
}

function contextOf(keys: readonly string[]): Pick<Call, 'context'> {
  return keys.length === 0 ? {} : { context: { [LEADING_KEYS]: keys } };
}
