import type { IncomingHttpHeaders, Server } from 'node:http';
import { standBefore } from '../stand-before.ts';

/** Answers 403 to web pages: SQS takes forms without a preflight, and dynalite allows every origin. */
export function refusePages(server: Server): void {
  standBefore(server, (request, response, handOn) => {
    if (!isOfPage(request.headers)) return handOn(request, response);
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: 'origin: wanted a program that is no browser, got a web page' }));
  });
}

/** A page's requests name their origin; those of images and links say where they come from. */
function isOfPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none');
}
