import { CfnOutput, Duration } from 'aws-cdk-lib';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { TriggerDefinition } from '../../shared/definitions/definitions.ts';

export interface TriggerQueueProps {
  readonly datastore: string;
  readonly definition: TriggerDefinition;
}

/** A trigger as a template can say it: the addresses of its queues are tokens. See `DeployedTrigger`. */
export interface DeployedTriggerTokens {
  readonly definition: TriggerDefinition;
  readonly queueUrl: string;
  readonly parkedQueueUrl: string;
}

/** As long as SQS keeps a message at most. */
const RETENTION = Duration.days(14);

/** The most that SQS counts to. Our functions park a cell long before, by attempts that are counted for each cell. */
const LAST_RESORT_RECEIPTS = 1000;

/**
 * Where the consumer is elsewhere. SQS counts receipts of the messages behind a failing one, too: ten failing cells of
 * five attempts each must not take the one behind them along.
 */
const RECEIPTS_ELSEWHERE = 100;

/** How much longer than a call may take its messages stay hidden. */
const HANDED_BACK_SECONDS = 60;

/** A batch holds as many messages at most. */
export const BATCH_SIZE = 10;

/** What a Lambda function may take at most. */
const MAX_FUNCTION_SECONDS = 15 * 60;

/**
 * The time for a whole batch of a trigger: each of its cells may take the trigger's timeout, and a minute is left to
 * count and to hand back. Where that is more than a Lambda function may take, the consumer hands back what is left.
 */
export function batchTimeout({ timeoutSeconds }: TriggerDefinition): Duration {
  return Duration.seconds(Math.min(BATCH_SIZE * timeoutSeconds + 60, MAX_FUNCTION_SECONDS));
}

/**
 * The FIFO queue of a trigger, with a message group for each shard, and the queue that gets what the first one gives up
 * on: in order within a shard, at high throughput, sent and read over TLS alone.
 */
export class TriggerQueue extends Construct {
  readonly datastore: string;
  readonly definition: TriggerDefinition;
  readonly queue: Queue;
  /** Gets what SQS gives up on. */
  readonly parked: Queue;
  readonly deployed: DeployedTriggerTokens;
  /** For consumers elsewhere. */
  readonly url: CfnOutput;

  constructor(scope: Construct, id: string, props: TriggerQueueProps) {
    super(scope, id);
    const { definition } = props;
    this.datastore = props.datastore;
    this.definition = definition;
    const parked = this.fifo('parked', {});
    this.parked = parked;
    this.queue = this.fifo('queue', {
      // Not the six times the function's time that are usual for queues without groups: a function that dies hard would
      // hold up its shard for an hour.
      visibilityTimeout: Duration.seconds(batchTimeout(definition).toSeconds() + HANDED_BACK_SECONDS),
      deadLetterQueue: { queue: parked, maxReceiveCount: definition.function === undefined ? Math.max(RECEIPTS_ELSEWHERE, definition.maxAttempts) : LAST_RESORT_RECEIPTS },
    });
    this.url = new CfnOutput(this, 'url', { value: this.queue.queueUrl, description: `The queue of trigger ${definition.name} of ${props.datastore}` });
    this.deployed = { definition, queueUrl: this.queue.queueUrl, parkedQueueUrl: parked.queueUrl };
  }

  private fifo(id: string, rest: QueueProps): Queue {
    return new Queue(this, id, {
      fifo: true,
      // High throughput: the limits are for each shard, not for the queue.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      retentionPeriod: RETENTION,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      ...rest,
    });
  }
}
