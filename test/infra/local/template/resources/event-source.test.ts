import { describe, expect, it } from 'vitest';
import {
  eventSources,
  type EventSourceDefinition,
} from '../../../../../infra/local/template/resources/event-source.ts';
import { localResources } from '../../../../../infra/local/template/resources/local-resources.ts';

const QUEUE = { Type: 'AWS::SQS::Queue', Properties: { FifoQueue: true } };
const CHARGE = { Type: 'AWS::Lambda::Function', Properties: {} };

/** What becomes of an event source mapping with these properties. */
function mapped(properties: object): readonly EventSourceDefinition[] {
  const mapping = {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: { EventSourceArn: { 'Fn::GetAtt': ['Cells', 'Arn'] }, FunctionName: { Ref: 'Charge' }, ...properties },
  };
  const template = { Resources: { Cells: QUEUE, Charge: CHARGE, Mapping: mapping } };
  const { resources, context } = localResources([{ name: 'service', folder: '/nowhere', template }], {
    groups: [],
    httpUrl: 'http://api',
    sqsUrl: 'http://sqs',
  });
  return eventSources(resources, context);
}

describe('an event source mapping', () => {
  it('says which queue calls which function, and how', () => {
    expect(
      mapped({
        BatchSize: 5,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: 3 },
      }),
    ).toEqual([
      {
        queueUrl: 'http://sqs/000000000000/service-Cells.fifo',
        queueArn: 'arn:aws:sqs:us-east-1:000000000000:service-Cells.fifo',
        functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:service-Charge',
        batchSize: 5,
        maximumConcurrency: 3,
        reportsFailures: true,
      },
    ]);
    expect(mapped({ FunctionName: { 'Fn::GetAtt': ['Charge', 'Arn'] } })).toMatchObject([
      {
        functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:service-Charge',
        batchSize: 10,
        maximumConcurrency: undefined,
        reportsFailures: false,
      },
    ]);
  });

  it('calls nothing while it is switched off', () => {
    expect(mapped({ Enabled: false })).toEqual([]);
  });

  it.each([
    [
      'a stream',
      { EventSourceArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/cells' },
      'EventSourceArn: wanted a queue of the template, got "arn:aws:kinesis',
    ],
    ['a large batch', { BatchSize: 100 }, 'BatchSize: wanted 1 to 10, which is what one receive gives, got 100'],
    ['a filter', { FilterCriteria: { Filters: [] } }, 'FilterCriteria: wanted none'],
  ])('is refused with %s, not left out', (_, properties, message) => {
    expect(() => mapped(properties)).toThrow(`Mapping (AWS::Lambda::EventSourceMapping) of service, ${message}`);
  });
});
