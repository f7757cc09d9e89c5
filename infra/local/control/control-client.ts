import { existsSync, readFileSync } from 'node:fs';
import { dataFolder } from '../stack/data-folder.ts';
import type { ControlAddress } from './control-server.ts';

/**
 * Sends a command to the stack that runs on a data folder. Throws an `Error` to be shown: none runs there, or what the
 * stack says.
 */
export async function sendCommand(data: string, command: string, argument = ''): Promise<unknown> {
  const { control } = dataFolder(data);
  const notRunning = `No stack runs on ${data}: start one with npm start, or say --data of the one meant`;
  if (!existsSync(control)) throw new Error(notRunning);
  const { port, token }: ControlAddress = JSON.parse(readFileSync(control, 'utf8'));
  const response = await fetch(`http://127.0.0.1:${port}/${command}?argument=${encodeURIComponent(argument)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  }).catch((cause: unknown) => {
    throw new Error(notRunning, { cause });
  });
  // The port may be another program's by now.
  if (response.status === 401 || response.headers.get('content-type') !== 'application/json')
    throw new Error(notRunning);
  const { result, error } = Object(await response.json());
  if (typeof error === 'string') throw new Error(error);
  return result;
}
