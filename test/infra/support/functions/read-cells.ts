/** A stand-in that answers with the event it got, and does as the query says. */
interface Event {
  readonly queryStringParameters?: Readonly<Record<string, string>>;
}

let answered = 0;

export async function handler(event: Event): Promise<unknown> {
  const query = event.queryStringParameters ?? {};
  // Clock: a function that takes the time that a test asks for
  if (query['sleep'] !== undefined) await new Promise((resolve) => setTimeout(resolve, Number(query['sleep'])));
  if (query['throw'] !== undefined) throw new Error(query['throw']);
  if (query['exit'] !== undefined) process.exit(1);
  if (query['bytes'] !== undefined) return { statusCode: 200, body: 'x'.repeat(Number(query['bytes'])) };
  if (query['text'] !== undefined) return { statusCode: 200, body: query['text'].repeat(Number(query['times'])) };
  if (query['binary'] !== undefined)
    return { statusCode: 200, body: bytesOf(Number(query['binary'])).toString('base64'), isBase64Encoded: true };
  if (query['plain'] !== undefined) return { plain: query['plain'] };
  answered += 1;
  return {
    statusCode: 201,
    headers: { 'content-type': 'application/json', 'x-stand-in': 'yes' },
    cookies: ['a=1', 'b=2'],
    body: JSON.stringify({ event, answered, pid: process.pid, environment: process.env }),
  };
}

/** So many bytes that are no UTF-8. */
function bytesOf(length: number): Buffer {
  return Buffer.alloc(length, Uint8Array.of(0xff, 0x00, 0x80));
}
