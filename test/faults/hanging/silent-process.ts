/** A process that writes existing cells, and is stopped as soon as its transaction was refused. */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { NewCell } from '../../../shared/cell.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';

export interface SilentInput {
  readonly access: StoreAccess;
  readonly cells: readonly NewCell[];
  /** A file made just before it is stopped. */
  readonly marker: string;
  /** Whether the server ends an idle transaction soon. */
  readonly endsSoon: boolean;
}

const REFUSED = 'Duplicate entry';
const ENDS_SOON = 'wait_timeout = 2';
const ENDS_LATE = 'wait_timeout = 9';

await runAsProcess<SilentInput, undefined>(async ({ access, cells, marker, endsSoon }, control) => {
  const { write, push } = Socket.prototype;
  const transacting = new WeakSet<Socket>();
  Socket.prototype.write = function (this: Socket, chunk: string | Uint8Array, ...others: never[]) {
    const text = Buffer.from(chunk as Uint8Array);
    if (text.includes('START TRANSACTION')) transacting.add(this);
    else transacting.delete(this);
    const at = text.indexOf(ENDS_SOON);
    if (at >= 0 && !endsSoon) text.write(ENDS_LATE, at);
    return write.call(this, at >= 0 ? text : chunk, ...others);
  };
  Socket.prototype.push = function (this: Socket, chunk: unknown, ...others: never[]) {
    if (chunk instanceof Uint8Array && transacting.has(this) && Buffer.from(chunk).includes(REFUSED)) {
      writeFileSync(marker, '');
      process.kill(process.pid, 'SIGSTOP');
    }
    return push.call(this, chunk, ...others);
  };
  await using store = await openStore(access);
  control.ready();
  while (!control.signal.aborted) await store.datastore.batchPut(cells);
});
