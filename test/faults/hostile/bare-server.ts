/** A process that serves cells without limits or checks, written in twenty lines: the control. */
import { createServer } from 'node:http';

const kept: Record<string, unknown> = {};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    try {
      response.end(answer(request.method ?? '', request.url ?? '', Buffer.concat(chunks).toString()));
    } catch (error) {
      response.statusCode = 500;
      response.end(String(error));
    }
  });
});

function answer(method: string, url: string, text: string): string {
  const path = decodeURIComponent(url);
  if (method !== 'PUT' && method !== 'POST') return JSON.stringify({ body: kept[path] });
  const body: unknown = JSON.parse(text);
  kept[path] = body;
  if (method === 'POST') return JSON.stringify({ results: Object(body).cells?.map(() => ({ outcome: 'stored' })) });
  const [, , , , row_key, column_name, ref_key] = path.split('/');
  return JSON.stringify({ outcome: 'stored', row_key, column_name, ref_key: Number(ref_key), body });
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`);
});
// The parent process has ended.
process.on('disconnect', () => process.exit());
