import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { dataFolder } from '../folder/data-folder.ts';
import type { ControlAddress } from './control-server.ts';

/** Sends a command to a folder's stack, without time limit: replays take long. Throws an Error to be shown. */
export async function sendCommand(data: string, command: string, argument = ''): Promise<unknown> {
  const { control } = dataFolder(data);
  const notRunning = `No stack runs on ${data}: start one with npm start, or say --data of the one meant`;
  if (!existsSync(control)) throw new Error(notRunning);
  const { port, token }: ControlAddress = JSON.parse(readFileSync(control, 'utf8'));
  const asking = request({
    host: '127.0.0.1',
    port,
    path: `/${command}?argument=${encodeURIComponent(argument)}`,
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  asking.end();
  const [answer] = (await once(asking, 'response').catch((cause: unknown) => {
    throw new Error(notRunning, { cause });
  })) as [IncomingMessage];
  const output = await text(answer);
  // Another program may have the port by now.
  if (answer.statusCode === 401 || answer.headers['content-type'] !== 'application/json') throw new Error(notRunning);
  const { result, error } = Object(JSON.parse(output));
  if (typeof error === 'string') throw new Error(error);
  return result;
}
