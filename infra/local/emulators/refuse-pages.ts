import type { IncomingHttpHeaders, Server } from 'node:http';
import { standBefore } from '../stand-before.ts';

/**
 * Has an emulator answer 403 to web pages, of this machine too: SDKs ask it, and browsers never do. By itself SQS takes
 * forms, which a browser sends for any page without asking first, and DynamoDB tells a browser that every page may ask.
 *
 * @param server before it listens, with what answers its requests
 */
export function refusePages(server: Server): void {
  standBefore(server, (request, response, handOn) => {
    if (!isOfPage(request.headers)) return handOn(request, response);
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: 'origin: wanted a program that is no browser, got a web page' }));
  });
}

/** A page's requests name its origin; those of images and links, which do not, say where they come from. */
function isOfPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none');
}
