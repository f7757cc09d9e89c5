/** A process that is SQS, as a local stack has it in a thread, so that what it takes of a processor can be told. */
import { once } from 'node:events';
import { startSqs } from '../../../infra/local/emulators/sqs.ts';
import { runAsProcess } from '../../support/processes/process-side.ts';

export interface SqsInput {
  /** Of its queues. */
  readonly folder: string;
}

export interface SqsProgress {
  readonly url: string;
  /** Processor time of this process so far. */
  readonly cpuMs: number;
}

const SAY_MS = 100;

await runAsProcess<SqsInput, SqsProgress>(async ({ folder }, control) => {
  const { url, close } = await startSqs(folder, 0);
  const say = (): Promise<void> => {
    const { user, system } = process.cpuUsage();
    return control.say({ url, cpuMs: (user + system) / 1000 });
  };
  await say();
  await control.ready();
  const saying = setInterval(() => void say(), SAY_MS);
  await once(control.signal, 'abort');
  clearInterval(saying);
  await close();
});
