import { CfnOutput, Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { removalOf } from './kept-log.ts';
import type { SchemalessStorage } from './storage.ts';
import type { TriggerDefinition } from '../../shared/definitions/definitions.ts';
import type { DeployedTrigger } from '../../shared/topology/topology.ts';
import { hiddenSeconds, mostReceipts, RETENTION_MS } from '../../shared/triggers/state/queue-limits.ts';
import { grantQueueKey } from './key-uses.ts';
import { READ_QUEUE_STATE, SEND_TO_QUEUE, TAKE_FROM_QUEUE } from './granted-items.ts';

const CONSUME = [...TAKE_FROM_QUEUE, ...READ_QUEUE_STATE];

/** Protects messages: no purge, and a protected queue outlives its stack. */
function keep(queue: Queue, removalPolicy: RemovalPolicy): void {
  queue.addToResourcePolicy(
    new PolicyStatement({
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['sqs:PurgeQueue'],
      resources: [queue.queueArn],
    }),
  );
  queue.applyRemovalPolicy(removalPolicy);
}

function encryptedWith(key: IKey | undefined): QueueProps {
  return key
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
    : { encryption: QueueEncryption.SQS_MANAGED };
}

/** A trigger's FIFO queue, with a message group for each shard, and its dead-letter queue; TLS only. */
export class TriggerQueue extends Construct {
  readonly datastore: string;
  readonly definition: TriggerDefinition;
  readonly queue: Queue;
  readonly parked: Queue;
  /** With tokens. */
  readonly deployed: DeployedTrigger;
  readonly url: CfnOutput;
  /** The function of this app that takes its messages. */
  consumer?: IFunction;
  private readonly encryptionKey: IKey | undefined;

  constructor(
    scope: Construct,
    id: string,
    { environment, encryptionKey }: SchemalessStorage,
    datastore: string,
    definition: TriggerDefinition,
  ) {
    super(scope, id);
    this.datastore = datastore;
    this.definition = definition;
    this.encryptionKey = encryptionKey;
    const key = encryptedWith(encryptionKey);
    const parked = this.fifo('parked', key);
    this.parked = parked;
    this.queue = this.fifo('queue', {
      visibilityTimeout: Duration.seconds(hiddenSeconds(definition)),
      deadLetterQueue: { queue: parked, maxReceiveCount: mostReceipts(definition) },
      ...key,
    });
    for (const queue of [this.queue, parked]) keep(queue, removalOf(environment));
    this.url = new CfnOutput(this, 'url', {
      value: this.queue.queueUrl,
      description: `The queue of trigger ${definition.name} of ${datastore}`,
    });
    this.deployed = { definition, queueUrl: this.queue.queueUrl, parkedQueueUrl: parked.queueUrl };
  }

  /** Allows sending, and viewing what SQS gave up on. */
  grantSending(grantee: IGrantable): void {
    this.queue.grant(grantee, ...SEND_TO_QUEUE);
    this.parked.grant(grantee, 'sqs:GetQueueAttributes');
    grantQueueKey(grantee, this.encryptionKey, 'send');
  }

  /** Allows taking messages, with the key through SQS only; the queue's own grants would give the whole key. */
  grantConsuming(grantee: IGrantable): void {
    this.queue.grant(grantee, ...CONSUME);
    grantQueueKey(grantee, this.encryptionKey, 'receive');
  }

  /** Allows viewing the queues, and handling what SQS gave up on. */
  grantManagement(grantee: IGrantable): void {
    this.queue.grant(grantee, 'sqs:GetQueueAttributes');
    this.parked.grant(grantee, ...CONSUME);
    grantQueueKey(grantee, this.encryptionKey, 'receive');
  }

  private fifo(id: string, rest: QueueProps): Queue {
    return new Queue(this, id, {
      fifo: true,
      // High throughput: limits apply to each shard.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      retentionPeriod: Duration.millis(RETENTION_MS),
      enforceSSL: true,
      ...rest,
    });
  }
}
