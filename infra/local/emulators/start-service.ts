import { once } from 'node:events';
import { readRights, type RightsByKey } from '../iam/rights.ts';
import type { Service, ServiceName } from './emulator.ts';
import type { ServiceThreadData } from './service-thread.ts';
import { startServiceWorker, type ServiceWorker } from './service-worker.ts';
import { within } from '../within.ts';

/** How long a stopped service may take to write its data. */
const STOP_MS = 5000;

/** Starts an emulator in its own thread: in the stack's, offset commits delayed every request. */
export async function startService(
  name: ServiceName,
  folder: string,
  onRefused: (why: string) => void = () => {},
): Promise<Service> {
  let rights: RightsByKey = {};
  const start = (port: number, isFirst: boolean): Promise<ServiceWorker> => {
    const data: ServiceThreadData = { name, folder, port, isFirst, rights };
    return startServiceWorker('service-thread.ts', name, data, onRefused);
  };
  let service = await start(0, true);
  const { url } = service;
  let isServing = true;
  return {
    url,
    async setRights(next) {
      readRights(next);
      rights = next;
      if (isServing) await service.setRights(next);
    },
    async kill() {
      if (!isServing) throw new Error(`${name} is away already`);
      isServing = false;
      await service.worker.terminate();
    },
    async resume() {
      if (isServing) throw new Error(`${name} is not away`);
      service = await start(Number(new URL(url).port), false);
      isServing = true;
      // The rights may have changed during the start.
      await service.setRights(rights);
    },
    async close() {
      if (!isServing) return;
      isServing = false;
      const exited = once(service.worker, 'exit');
      void service.call('close');
      if (!(await within(STOP_MS, exited))) await service.worker.terminate();
    },
  };
}
