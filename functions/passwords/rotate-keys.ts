/** `npm run rotate-keys -- TABLE SECRET`: rewraps the keys of sealed fields, see `infra/docs/forgetting.md`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { rotateKeys } from '../../shared/sealed/rotate-keys.ts';
import { keyStore } from '../environment/root-key.ts';

const [keysTable, rootSecret] = process.argv.slice(2);
if (keysTable === undefined || rootSecret === undefined)
  throw new Error('wanted the table of keys and the secret of the root key: npm run rotate-keys -- TABLE SECRET');
const say = (line: string): unknown => process.stdout.write(`${line}\n`);
await rotateKeys({ store: keyStore({ keysTable, rootSecret }), pause: sleep, say });
say('done: if the secret has a `former` key, remove it');
