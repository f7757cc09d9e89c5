/** A card service for the example: it keeps its books in memory, and is out of order at its first request. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { CARDS_URL, type Charge, type Charged } from './cards.ts';

export async function startCardService(say: (line: string) => void): Promise<Server> {
  const books = new Map<string, Charged>();
  let isOutOfOrder = true;
  const server = createServer(async (request, response) => {
    const key = String(request.headers['idempotency-key']);
    const { cents } = (await json(request)) as Omit<Charge, 'key'>;
    if (isOutOfOrder) {
      isOutOfOrder = false;
      say('card service: out of order');
      response.writeHead(503).end('out of order');
      return;
    }
    const before = books.get(key);
    const charged = before ?? { receipt: `receipt ${books.size + 1}`, cents };
    books.set(key, charged);
    say(`card service: ${before ? 'charged before' : 'charged'}, ${charged.receipt}, ${charged.cents} cents`);
    response.end(JSON.stringify(charged));
  });
  server.listen(Number(new URL(CARDS_URL).port), '127.0.0.1');
  await once(server, 'listening');
  return server;
}
