import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import { apiClient } from '../../../shared/client/api-client.ts';
import { localSigner } from '../login/local-signer.ts';
import type { TriggerSummary } from '../../../shared/api/trigger-shapes.ts';

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
    const api = apiClient({ url, datastore, attempts: 1, timeoutMs: ANSWER_MS, sign: localSigner() });
    const known = await api.listTriggers().catch(() => undefined);
    return triggers.map(({ name: trigger }) => {
      const summary = known?.triggers.find((one) => one.trigger === trigger);
      return { datastore, trigger, ...(summary && { summary }) };
    });
  });
  return (await Promise.all(asked)).flat();
}
