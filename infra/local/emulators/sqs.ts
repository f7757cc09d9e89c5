import { mkdirSync, existsSync } from 'node:fs';
import { Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { startFauxqs } from 'fauxqs';
import { callsOfSqs } from '../iam/calls-of.ts';
import { guardServer, type Guard, refuseAsSqs } from '../iam/guard-server.ts';
import type { Emulator } from './emulator.ts';
import {
  fauxqsParts,
  type FauxqsQueue,
  type FauxqsRouter,
  type ReceivedMessage,
  type FauxqsFile,
} from './fauxqs-parts.ts';
import { fixFifoGroups } from './fifo-groups.ts';
import { refuseOthers } from '../server.ts';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

let fixed: Promise<void> | undefined;

/** Starts SQS (fauxqs, with fixes) on the loopback interface, with its queues in a folder. */
export async function startSqs(
  folder: string,
  port: number,
  onRefused: (why: string) => void = () => {},
): Promise<Emulator> {
  mkdirSync(folder, { recursive: true });
  fixed ??= fix();
  await fixed;
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

async function fix(): Promise<void> {
  const { queue, file, router, forbidden } = await fauxqsParts();
  fixFifoGroups(queue);
  fixMessageFile(file);
  fixLostReceives(router);
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

/**
 * Gives back at once, uncounted, what a caller that has gone would have received. A long poll of fauxqs outlives its
 * caller by up to 20 s and would hold the message's group until its visibility ends.
 */
function fixLostReceives(prototype: FauxqsRouter): void {
  const { register } = prototype;
  prototype.register = function registerFixed(action, answer) {
    if (action !== 'ReceiveMessage') return register.call(this, action, answer);
    register.call(this, action, async (body, store, request) => {
      const result = await answer(body, store, request);
      const queue = store.getQueue(body.QueueUrl ?? '');
      if (queue && request.raw.socket.destroyed)
        for (const message of Object(result).Messages ?? []) giveBackUnseen(queue, message);
      return result;
    });
  };
}

function giveBackUnseen(queue: FauxqsQueue, { ReceiptHandle }: ReceivedMessage): void {
  const held = queue.inflightMessages.get(ReceiptHandle);
  if (!held) return;
  held.message.approximateReceiveCount -= 1;
  queue.changeVisibility(ReceiptHandle, 0);
}

const RELEASE = 'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL';

/**
 * Fixes how fauxqs keeps queues on disk.
 *
 * - It syncs four times for each message; surviving `kill -9` is enough here.
 * - Giving a message back (visibility 0) fails.
 */
function fixMessageFile(prototype: FauxqsFile): void {
  const { load } = prototype;
  prototype.load = function loadFixed(...stores) {
    this.db.exec('PRAGMA synchronous = NORMAL');
    load.apply(this, stores);
  };
  prototype.updateMessageReady = function updateMessageReady(messageId) {
    this.db.prepare(`${RELEASE} WHERE message_id = ?`).run(messageId);
  };
}

/** Makes visible what receivers of an earlier run hold. */
export function releaseMessages(folder: string): void {
  const path = join(folder, 'fauxqs.db');
  if (!existsSync(path)) return;
  const file = new DatabaseSync(path);
  try {
    file.exec(RELEASE);
  } finally {
    file.close();
  }
}
