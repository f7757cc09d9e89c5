import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Puts a handler before a server's own; `look` answers or hands on. Call it before it listens. */
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
