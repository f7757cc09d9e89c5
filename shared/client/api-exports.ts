export { apiClient, type ApiClient } from './api-client.ts';
export type { ClientOptions } from './options.ts';
