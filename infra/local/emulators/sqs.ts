import { mkdirSync } from 'node:fs';
import { Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { startFauxqs } from 'fauxqs';
import { callsOfSqs } from '../iam/calls-of.ts';
import { guardServer, type Guard } from '../iam/guard-server.ts';
import { refuseAsSqs } from '../iam/refusals.ts';
import type { Emulator } from './emulator.ts';
import { fauxqsParts } from './fauxqs-parts.ts';
import { mendFifoGroups } from './fifo-groups.ts';
import { mendLostReceives } from './lost-receives.ts';
import { mendMessageFile } from './message-file.ts';
import { refuseOthers } from '../refuse-others.ts';

const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

let mended: Promise<void> | undefined;

/** Starts SQS (fauxqs, with fixes) on the loopback interface, with its queues in a folder. */
export async function startSqs(
  folder: string,
  port: number,
  onRefused: (why: string) => void = () => {},
): Promise<Emulator> {
  mkdirSync(folder, { recursive: true });
  mended ??= mend();
  await mended;
  let guard: Guard | undefined;
  const standBefore = (server: HttpServer): void => {
    guard = guardServer(server, { callsOf: callsOfSqs, refuse: refuseAsSqs, onRefused });
    refuseOthers(server);
  };
  const sqs = await onLoopback(() => startFauxqs({ port, logger: false, dataDir: folder }), standBefore);
  return {
    url: `http://127.0.0.1:${sqs.port}`,
    setRights: async (rights) => guard?.setRights(rights),
    close: () => sqs.stop(),
  };
}

async function mend(): Promise<void> {
  const { queue, file, router, forbidden } = await fauxqsParts();
  mendFifoGroups(queue);
  mendMessageFile(file);
  mendLostReceives(router);
  // fauxqs refuses every character beyond U+FFFF, which SQS takes.
  forbidden.test = (text) => FORBIDDEN.test(text);
}

/** Makes fauxqs, which listens on every interface, listen on the loopback interface, and refuse others. */
async function onLoopback<T>(start: () => Promise<T>, standBefore: (server: HttpServer) => void): Promise<T> {
  const { listen } = Server.prototype;
  Server.prototype.listen = function loopbackOnly(this: Server, ...parameters: unknown[]): Server {
    const [options] = parameters;
    if (typeof options === 'object' && options !== null && 'host' in options && options.host === '0.0.0.0') {
      parameters[0] = { ...options, host: '127.0.0.1' };
      if (this instanceof HttpServer) standBefore(this);
    }
    return Reflect.apply(listen, this, parameters);
  };
  try {
    return await start();
  } finally {
    Server.prototype.listen = listen;
  }
}
