/** The HTTP API over the run's servers, in a process that can be killed. */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Everything } from '../../functions/support/fake-deployment.ts';
import { gateway } from '../../functions/support/gateway.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { fakeDefinitions } from '../../functions/support/fake-definitions.ts';

export interface ApiProcessInput {
  readonly access: StoreAccess;
  readonly port: number;
}

await runAsProcess<ApiProcessInput, never>(async ({ access, port }, { signal, ready }) => {
  await using store = await openStore(access);
  const deployment: Everything = {
    ...fakeDefinitions(),
    datastore: async () => store.datastore,
    datastores: async () => [store.name],
    triggers: () => Promise.reject(new Error('there are none here')),
    moves: () => Promise.reject(new Error('there are none here')),
    erasures: () => Promise.reject(new Error('there are none here')),
    retention: () => Promise.reject(new Error('there is none here')),
    subjects: () => Promise.reject(new Error('there are none here')),
    receiptKey: () => Promise.reject(new Error('there are none here')),
    health: async () => [],
    close: async () => undefined,
  };
  const answer = gateway(deployment);
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const body = await buffer(request);
    const {
      status,
      headers: answered,
      bytes,
    } = await answer({
      method,
      path: url,
      ...(body.length > 0 && { body: body.toString() }),
      headers: headers as Record<string, string>,
    });
    response.writeHead(status, answered as Record<string, string>).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await ready();
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  server.closeAllConnections();
  server.close();
});
