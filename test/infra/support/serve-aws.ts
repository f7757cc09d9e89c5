/**
 * Serves SQS and DynamoDB from a process of its own until it is killed: `serve-aws.ts FOLDER [SQS_PORT DYNAMODB_PORT]`.
 */
import { join } from 'node:path';
import { startDynamoDb } from '../../../infra/local/emulators/dynamodb.ts';
import { startSqs } from '../../../infra/local/emulators/sqs.ts';

const [folder = '', sqsPort = '0', dynamodbPort = '0'] = process.argv.slice(2);
const [sqs, dynamodb] = await Promise.all([
  startSqs(join(folder, 'sqs'), Number(sqsPort)),
  startDynamoDb(join(folder, 'dynamodb'), Number(dynamodbPort)),
]);
console.log(JSON.stringify({ sqs: sqs.url, dynamodb: dynamodb.url }));
