import { isDeepStrictEqual } from 'node:util';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { openConsumer, type ConsumeEvent, type Consumer } from '../../shared/triggers/consume/consumer.ts';
import { sqsQueue } from '../../shared/triggers/consume/sqs-queue.ts';
import type { TriggerFunction } from '../../shared/triggers/consume/trigger-function.ts';
import { triggeredClients } from '../../shared/triggers/consume/triggered-client.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import type { DeployedTrigger } from '../../shared/topology/topology.ts';
import { triggerStore } from '../../shared/triggers/state/dynamo-trigger-store.ts';
import type { ConsumerConfig } from '../environment/config.ts';
import { dynamoClient } from '../environment/dynamo.ts';

interface ConsumerParts {
  readonly config: ConsumerConfig;
  /** The trigger's name. */
  readonly trigger: string;
  readonly fn: TriggerFunction;
  /** See `ConsumerOptions`. */
  readonly atOnce: number;
  readonly sqs: SQSClient;
  readonly report: (event: ConsumeEvent) => void;
}

export interface OpenedConsumer {
  readonly consumer: Consumer;
  readonly deployed: DeployedTrigger;
}

/**
 * Opens consumers of a trigger over the environment's tables, queue and API. The function that is returned gives the
 * same one until the trigger is deployed otherwise, which is known within a minute: what a consumer knows lasts as
 * long. It throws an Error when the datastore has no such trigger, and `unavailable` while the topology cannot be read
 * at first.
 */
export function consumerOpener({
  config,
  trigger,
  fn,
  atOnce,
  sqs,
  report,
}: ConsumerParts): () => Promise<OpenedConsumer> {
  const client = dynamoClient();
  const topology = dynamoTopology({ client, table: config.topologyTable });
  const { apiUrl: url, datastore, region } = config;
  const clients = triggeredClients({ url, datastore, sign: requestSigner(region), joinPuts: atOnce > 1 });
  let opened: OpenedConsumer | undefined;
  return async () => {
    const triggers = await topology.triggers(datastore);
    const deployed = triggers.find(({ definition }) => definition.name === trigger);
    if (!deployed) {
      const names = triggers.map(({ definition }) => definition.name).join(', ');
      throw new Error(`Datastore ${datastore} has no trigger ${trigger}: it has ${names === '' ? 'none' : names}`);
    }
    if (opened && isDeepStrictEqual(opened.deployed, deployed)) return opened;
    const store = triggerStore({ client, table: config.stateTable }, { datastore, trigger });
    const { definition, queueUrl } = deployed;
    const consumer = openConsumer({
      datastore,
      definition,
      store,
      queue: sqsQueue(sqs, queueUrl),
      fn,
      atOnce,
      client: clients,
      report,
    });
    opened = { consumer, deployed };
    return opened;
  };
}
