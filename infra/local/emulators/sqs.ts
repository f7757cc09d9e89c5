import { mkdirSync } from 'node:fs';
import { Server } from 'node:net';
import { startFauxqs } from 'fauxqs';
import type { Emulator } from './emulator.ts';

/** Starts SQS (fauxqs) on the loopback interface, with its queues in a folder. */
export async function startSqs(folder: string, port: number): Promise<Emulator> {
  mkdirSync(folder, { recursive: true });
  const sqs = await onLoopback(() => startFauxqs({ port, logger: false, dataDir: folder }));
  return { url: `http://127.0.0.1:${sqs.port}`, close: () => sqs.stop() };
}

/** fauxqs listens on every interface and cannot be told otherwise: nobody outside this machine is to reach it. */
async function onLoopback<T>(start: () => Promise<T>): Promise<T> {
  const { listen } = Server.prototype;
  Server.prototype.listen = function loopbackOnly(this: Server, ...parameters: unknown[]): Server {
    const [options] = parameters;
    if (typeof options === 'object' && options !== null && 'host' in options && options.host === '0.0.0.0') parameters[0] = { ...options, host: '127.0.0.1' };
    return Reflect.apply(listen, this, parameters);
  };
  try {
    return await start();
  } finally {
    Server.prototype.listen = listen;
  }
}
