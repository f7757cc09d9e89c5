import type { Message } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSMessageAttributes, SQSRecordAttributes } from 'aws-lambda';

export function sqsEvent(messages: readonly Message[], queueArn: string): SQSEvent {
  return {
    Records: messages.map(
      ({
        MessageId = '',
        ReceiptHandle = '',
        Body = '',
        Attributes,
        MessageAttributes = {},
        MD5OfBody = '',
        MD5OfMessageAttributes,
      }) => ({
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        attributes: Attributes as unknown as SQSRecordAttributes,
        messageAttributes: attributesOf(MessageAttributes),
        md5OfBody: MD5OfBody,
        ...(MD5OfMessageAttributes !== undefined && { md5OfMessageAttributes: MD5OfMessageAttributes }),
        eventSource: 'aws:sqs',
        eventSourceARN: queueArn,
        awsRegion: queueArn.split(':')[3] ?? '',
      }),
    ),
  };
}

function attributesOf(attributes: NonNullable<Message['MessageAttributes']>): SQSMessageAttributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { StringValue, BinaryValue, DataType = 'String' }]) => [
      name,
      {
        ...(StringValue !== undefined && { stringValue: StringValue }),
        ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
        stringListValues: [],
        binaryListValues: [],
        dataType: DataType,
      },
    ]),
  );
}
