import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Has a server's requests looked at before what answers them.
 *
 * @param server before it listens, with what answers its requests
 * @param look answers a request itself, or hands it on, as it came or another in its place
 */
export function standBefore(
  server: Server,
  look: (
    request: IncomingMessage,
    response: ServerResponse,
    handOn: (request: IncomingMessage, response: ServerResponse) => void,
  ) => void,
): void {
  const answers = server.listeners('request');
  server.removeAllListeners('request');
  const handOn = (request: IncomingMessage, response: ServerResponse): void => {
    for (const answer of answers) Reflect.apply(answer, server, [request, response]);
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => look(request, response, handOn));
}
