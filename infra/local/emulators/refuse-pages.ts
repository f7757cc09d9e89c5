import type { IncomingHttpHeaders, Server } from 'node:http';

/**
 * Has an emulator answer 403 to web pages, of this machine too: SDKs ask it, and browsers never do. By itself SQS takes
 * forms, which a browser sends for any page without asking first, and DynamoDB tells a browser that every page may ask.
 *
 * @param server before it listens, with what answers its requests
 */
export function refusePages(server: Server): void {
  const answers = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (isOfPage(request.headers)) {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: 'origin: wanted a program that is no browser, got a web page' }));
      return;
    }
    for (const answer of answers) Reflect.apply(answer, server, [request, response]);
  });
}

/** A page's requests name its origin; those of images and links, which do not, say where they come from. */
function isOfPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none');
}
