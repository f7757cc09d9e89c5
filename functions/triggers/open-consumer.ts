import { isDeepStrictEqual } from 'node:util';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { requestSigner } from '../../shared/client/sign-request.ts';
import { openConsumer, type ConsumeEvent, type Consumer } from '../../shared/triggers/consume/consumer.ts';
import { sqsQueues } from '../../shared/triggers/state/queues.ts';
import type { TriggerFunction } from '../../shared/triggers/consume/trigger-function.ts';
import { triggerClients } from '../../shared/triggers/consume/trigger-clients.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import type { DeployedTrigger } from '../../shared/topology/topology.ts';
import { triggerStore } from '../../shared/triggers/state/dynamo-trigger-store.ts';
import type { ConsumerConfig } from '../environment/config.ts';
import { dynamoClient } from '../environment/dynamo.ts';

/** A trigger's function from `triggerHandler`. */
export interface MadeTrigger {
  /** The datastore of its definition, if it has one. */
  readonly datastore?: string | undefined;
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
 * Returns an opener of a trigger's consumer. It returns the same one until another deployment changes the trigger,
 * which it sees within a minute. It throws an Error without such a trigger, and `unavailable` without the topology.
 */
export function consumerOpener(parts: ConsumerParts): () => Promise<OpenedConsumer> {
  const { config, trigger, fn, atOnce, sqs, report } = parts;
  if (parts.datastore !== undefined && parts.datastore !== config.datastore)
    throw new Error(`datastore: wanted ${parts.datastore}, as the trigger's definition says, got ${config.datastore}`);
  const client = dynamoClient();
  const topology = dynamoTopology({ client, table: config.topologyTable });
  const { apiUrl: url, datastore, region } = config;
  const clients = triggerClients({ url, datastore, sign: requestSigner(region), joinPuts: atOnce > 1 });
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
