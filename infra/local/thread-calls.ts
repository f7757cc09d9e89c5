import type { MessagePort, Worker } from 'node:worker_threads';

type Functions = Readonly<Record<string, (...given: never[]) => unknown>>;

interface Call {
  readonly id: number;
  readonly name: string;
  readonly given: never[];
}

/** `code`: of the system, which a copied error loses. */
type Answer = Pick<Call, 'id'> & ({ readonly result: unknown } | { readonly error: Error; readonly code: unknown });

/** Answers calls of a thread, or of its owner, by these functions. Returns a function that calls the other side's. */
export function callsOver<Theirs extends Functions>(port: MessagePort | Worker, own: Functions) {
  const waiting = new Map<number, (answer: Answer) => void>();
  let count = 0;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const send = (message: Call | Answer): void => port.postMessage(message);
  port.on('message', async (message: Call | Answer) => {
    const { id } = message;
    if (!('name' in message)) {
      waiting.get(id)?.(message);
      return void waiting.delete(id);
    }
    try {
      send({ id, result: await own[message.name]?.(...message.given) });
    } catch (caught) {
      const error = caught instanceof Error ? caught : new Error(String(caught));
      send({ id, error, code: Object(error).code });
    }
  });
  return <Name extends keyof Theirs & string>(name: Name, ...given: Parameters<Theirs[Name]>) =>
    new Promise<Awaited<ReturnType<Theirs[Name]>>>((resolve, reject) => {
      count += 1;
      waiting.set(count, (answer) => {
        if ('error' in answer) reject(Object.assign(answer.error, answer.code !== undefined && { code: answer.code }));
        else resolve(answer.result as Awaited<ReturnType<Theirs[Name]>>);
      });
      send({ id: count, name, given });
    });
}
