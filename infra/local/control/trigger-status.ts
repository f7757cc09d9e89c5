import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { localSigner } from '../login/local-signer.ts';
import type { TriggerSummary } from '../../../shared/contract/trigger-operations.ts';

export interface TriggerState {
  readonly datastore: string;
  readonly trigger: string;
  readonly summary?: TriggerSummary;
}

const ANSWER_MS = 5000;

export async function triggerStatus(
  datastores: readonly DatastoreDefinition[],
  url: string,
): Promise<readonly TriggerState[]> {
  const asked = datastores.map(async ({ name: datastore, triggers }): Promise<readonly TriggerState[]> => {
    if (triggers.length === 0) return [];
    const known = await schemalessClient({ url, datastore, attempts: 1, timeoutMs: ANSWER_MS, sign: localSigner() })
      .triggers()
      .catch(() => undefined);
    return triggers.map(({ name: trigger }) => {
      const summary = known?.find((one) => one.trigger === trigger);
      return { datastore, trigger, ...(summary && { summary }) };
    });
  });
  return (await Promise.all(asked)).flat();
}
