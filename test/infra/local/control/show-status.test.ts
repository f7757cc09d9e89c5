import { expect, it } from 'vitest';
import type { StackStatus } from '../../../../infra/local/control/status.ts';
import { showStatus } from '../../../../infra/local/control/show-status.ts';
import { SUMMARY } from '../../../functions/support/fake-triggers.ts';

const STATUS: StackStatus = {
  url: 'http://127.0.0.1:4000',
  pid: 7,
  engine: 'mysql 9.7.4',
  weight: { stackMemory: 500_000_000, serverMemory: 1_234_567_890, disk: 1_400_000 },
  nodes: [],
  functions: [],
  functionMode: 'threads',
  functionLog: 'functions.log',
  tailers: 2,
  triggers: [],
  queues: [],
};

it('the status of a stack says how each trigger does and what waits in its queue', () => {
  const lag = { cells: 1, seconds: 2.34, unknown_shards: 0 };
  const stopped = { ...SUMMARY, state: 'stopped', reason: '100 cells are parked', lag, parked: 100 } as const;
  const running = {
    state: 'running',
    reason: null,
    lag: { cells: 0, seconds: 0, unknown_shards: 3 },
    parked: 0,
  } as const;
  const text = showStatus({
    ...STATUS,
    triggers: [
      { datastore: 'trips', trigger: 'bill_rider', summary: stopped },
      { datastore: 'trips', trigger: 'feed', summary: { ...SUMMARY, trigger: 'feed', ...running } },
      { datastore: 'trips', trigger: 'copy' },
    ],
    queues: [
      { name: 'bill.fifo', url: '', calls: 'bill-rider', callsNow: 2, visible: 12, held: 3 },
      { name: 'copy.fifo', url: '', calls: undefined, callsNow: 0 },
    ],
  });
  expect(text.split('\n').slice(6)).toEqual([
    'triggers, sent to by 2 tailers',
    'trips/bill_rider  stopped                          1 cell behind, 2.3 s                         100 parked  100 cells are parked',
    'trips/feed        running                          0 cells behind, 0.0 s, 3 shards not counted  0 parked',
    'trips/copy        not known: the API does not say',
    '',
    'queues',
    'bill.fifo  12 waiting, 3 held  calls bill-rider, 2 now',
    'copy.fifo  SQS is away',
  ]);
  expect(text).toMatch(/^memory: 500 MB and 1,235 MB of the servers; disk: 1 MB$/mu);
  expect(showStatus(STATUS)).not.toMatch(/triggers|queues/u);
});
