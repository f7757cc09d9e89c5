import { apiClient, type ApiClient } from '../../shared/client/api-client.ts';
import { schemalessClient, type SchemalessClient } from '../../shared/client/client.ts';
import type { ClientOptions } from '../../shared/client/options.ts';

/** The client of a datastore, with the operations of the API that it lacks: those of operators, above all. */
export type OperatorsClient = SchemalessClient & Omit<ApiClient, keyof SchemalessClient>;

export function operatorsClient(options: ClientOptions): OperatorsClient {
  return { ...apiClient(options), ...schemalessClient(options) };
}
