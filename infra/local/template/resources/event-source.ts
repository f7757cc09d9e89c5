import type { EventSourceDefinition } from '../../event-sources/poll-queue.ts';
import { describeResource, type ResourceAddress, ofType } from '../template.ts';
import { localArn } from '../../arn.ts';
import { QUEUE } from './queue.ts';
import { functionArn, physicalName, textProperty, type Context, type ResourceKind } from './resource-kind.ts';

export const EVENT_SOURCE: ResourceKind = {
  ref: physicalName,
  attribute: (address, name) =>
    name === 'Id'
      ? physicalName(address)
      : name === 'EventSourceMappingArn'
        ? localArn('lambda', `event-source-mapping:${physicalName(address)}`)
        : undefined,
};

/** Lambda's default. */
const BATCH_SIZE = 10;

/** Returns the enabled event source mappings. Throws for properties without a local implementation. */
export function eventSources(
  resources: readonly ResourceAddress[],
  context: Context,
): readonly EventSourceDefinition[] {
  const queues = new Map(
    ofType(resources, 'AWS::SQS::Queue').map((queue) => [
      String(QUEUE.attribute(queue, 'Arn', context)),
      QUEUE.ref(queue, context),
    ]),
  );
  return ofType(resources, 'AWS::Lambda::EventSourceMapping')
    .filter((address) => String(context.property(address, 'Enabled')) !== 'false')
    .map((address) => definitionOf(address, queues, context));
}

function definitionOf(
  address: ResourceAddress,
  queues: ReadonlyMap<string, string>,
  context: Context,
): EventSourceDefinition {
  const refuse = (property: string, wanted: string, got: unknown): never => {
    throw new Error(`${describeResource(address)}, ${property}: wanted ${wanted}, got ${JSON.stringify(got)}`);
  };
  const queueArn = textProperty(context, address, 'EventSourceArn');
  const batchSize = Number(context.property(address, 'BatchSize') ?? BATCH_SIZE);
  if (!(batchSize >= 1 && batchSize <= 10)) refuse('BatchSize', '1 to 10, which is what one receive gives', batchSize);
  const filters: unknown = context.property(address, 'FilterCriteria');
  if (filters !== undefined) refuse('FilterCriteria', 'none, since messages are not filtered here', filters);
  const responseTypes: unknown = context.property(address, 'FunctionResponseTypes');
  const concurrency: unknown = Object(context.property(address, 'ScalingConfig')).MaximumConcurrency;
  return {
    queueUrl: queues.get(queueArn) ?? refuse('EventSourceArn', 'a queue of the template', queueArn),
    queueArn,
    functionArn: functionArn(textProperty(context, address, 'FunctionName')),
    batchSize,
    maximumConcurrency: concurrency === undefined ? undefined : Number(concurrency),
    reportsFailures: Array.isArray(responseTypes) && responseTypes.includes('ReportBatchItemFailures'),
  };
}
