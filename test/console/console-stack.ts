import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { LocalStackOptions } from '../../infra/local/stack/local-stack-options.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { temporaryFolder } from '../infra/support/temporary-folder.ts';
import { writeFiles } from '../infra/support/write-files.ts';
import { operatorsClient, type OperatorsClient } from '../support/operators-client.ts';

const LAB = {
  'lab/datastore.yaml':
    'datastore: lab\nshards: 16\nretention:\n  - { column: STATUS, keep_versions: 2 }\nsealed:\n  - { column: PRIVATE, subject: person, fields: [name] }\n',
  'lab/indexes/by_city.yaml':
    'table: by_city\ndatastore: lab\ncolumn_defs:\n  - column_key: BASE\n    fields:\n      - { field: city, type: string }\n      - { field: fare, type: number }\n',
  'lab/triggers/notify_driver.yaml':
    'trigger: notify_driver\ndatastore: lab\ncolumns: [BAD]\nfunction: test/console/fails-until-fixed.ts\nmax_attempts: 1\nstop_after_parked: 10000\nretry_parked_every: never\n',
};

interface ConsoleStack {
  readonly stack: () => LocalStack;
  readonly url: () => string;
  readonly lab: () => OperatorsClient;
  readonly trips: () => OperatorsClient;
  readonly data: string;
  readonly stopApi: () => Promise<void>;
  readonly startApi: () => Promise<void>;
}

/** The stack of a file, with the trips and with a datastore `lab`, whose trigger fails. */
export function consoleStack(options: Partial<LocalStackOptions> = {}): ConsoleStack {
  const folder = temporaryFolder();
  const datastores = join(folder.path, 'datastores');
  const data = join(folder.path, 'data');
  let started: LocalStack | undefined;
  const start = (port: number): Promise<LocalStack> =>
    startLocalStack({
      port,
      data,
      groups: 3,
      readers: 1,
      shards: 16,
      restartAfterSeconds: 0,
      datastores,
      ...options,
    });
  beforeAll(async () => {
    cpSync(join(PROJECT_ROOT, 'infra/datastores/trips'), join(datastores, 'trips'), { recursive: true });
    writeFiles(datastores, LAB);
    started = await start(0);
  });
  afterAll(async () => {
    await started?.stop();
    folder[Symbol.dispose]();
  });
  const stack = (): LocalStack => {
    if (!started) throw new Error('the stack is not there before the tests begin');
    return started;
  };
  const client = (datastore: string) => (): OperatorsClient => operatorsClient({ url: stack().url, datastore });
  let port = 0;
  return {
    stack,
    url: () => stack().url,
    lab: client('lab'),
    trips: client('trips'),
    data,
    stopApi: async () => {
      port = Number(new URL(stack().url).port);
      await stack().stop();
      started = undefined;
    },
    startApi: async () => {
      started = await start(port);
    },
  };
}
