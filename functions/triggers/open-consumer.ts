import { isDeepStrictEqual } from 'node:util';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { openConsumer, type ConsumeEvent, type Consumer } from '../../shared/triggers/consume/consumer.ts';
import { sqsQueues } from '../../shared/triggers/state/queues.ts';
import type { TriggerFunction } from '../../shared/triggers/consume/trigger-function.ts';
import { triggeredClients } from '../../shared/triggers/consume/triggered-client.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import type { DeployedTrigger } from '../../shared/topology/topology.ts';
import { triggerStore } from '../../shared/triggers/state/dynamo-trigger-store.ts';
import type { ConsumerConfig } from '../environment/config.ts';
import { dynamoClient } from '../environment/dynamo.ts';

/** A trigger's function, as `triggerHandler` made it. */
export interface MadeTrigger {
  readonly trigger: string;
  readonly fn: TriggerFunction;
  readonly atOnce: number;
}

interface ConsumerParts extends MadeTrigger {
  readonly config: ConsumerConfig;
  readonly sqs: SQSClient;
  readonly report: (event: ConsumeEvent) => void;
}

export interface OpenedConsumer {
  readonly consumer: Consumer;
  readonly deployed: DeployedTrigger;
}

/**
 * Returns what opens the consumer of a trigger: the same one until the trigger is deployed otherwise, which is known within
 * a minute. It throws an Error if the datastore has no such trigger, and `unavailable` if the topology cannot be read.
 */
export function consumerOpener(parts: ConsumerParts): () => Promise<OpenedConsumer> {
  const { config, trigger, fn, atOnce, sqs, report } = parts;
  const client = dynamoClient();
  const topology = dynamoTopology({ client, table: config.topologyTable });
  const { apiUrl: url, datastore, region } = config;
  const clients = triggeredClients({ url, datastore, sign: requestSigner(region), joinPuts: atOnce > 1 });
  const queues = sqsQueues(sqs);
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
      queue: { setVisibility: (records, seconds) => queues.hide(queueUrl, records, seconds) },
      fn,
      atOnce,
      client: clients,
      report,
    });
    opened = { consumer, deployed };
    return opened;
  };
}
