import { damagedRow, twoBodies, bodiesInDoubt, writerHangs } from './breaking/buffers.ts';
import { CRASHING_INSTANCES, WITHOUT_SCHEDULES } from './breaking/functions.ts';
import { holeInLog, restoredGroup, unreadableRows } from './breaking/logs.ts';
import { barredErasers, barredMover } from './breaking/rights.ts';
import { dyingWriter, groupHangs, heldReader, lockedTable, MANY_CONNECTIONS } from './breaking/servers.ts';
import {
  BARRED_QUEUE,
  CRASHING_FUNCTION,
  FAILING_FUNCTION,
  FOREIGN_MESSAGE,
  SLOW_FUNCTION,
} from './breaking/triggers.ts';
import type { AlarmCase } from './ring.ts';

const SECOND_GROUP = [
  damagedRow('group-2', 'group-1'),
  twoBodies('group-2'),
  bodiesInDoubt('group-2', 'group-1'),
  restoredGroup('group-2'),
  writerHangs('group-2'),
  barredMover('group-2', 'group-1'),
];

/** Consecutive rounds of lanes that run in parallel. The first cases of lanes take a quarter of an hour and more. */
export const ROUNDS: readonly (readonly (readonly AlarmCase[])[])[] = [
  [
    [SLOW_FUNCTION],
    [unreadableRows('many')],
    [barredErasers('group-1')],
    [BARRED_QUEUE],
    [FAILING_FUNCTION, FOREIGN_MESSAGE],
    [CRASHING_FUNCTION],
    [holeInLog('holed')],
    [MANY_CONNECTIONS],
    SECOND_GROUP,
    [groupHangs('group-3'), lockedTable('group-3'), dyingWriter('group-3')],
  ],
  // These keep all functions from running, and most other alarms from ringing.
  [[CRASHING_INSTANCES, WITHOUT_SCHEDULES], [heldReader('group-2')]],
];

/** Sections whose alarms nothing on one machine can ring, and why. */
export const NOT_HERE: Readonly<Record<string, string>> = {
  'account-concurrency': 'one machine has no account, nor a quota of one that SERVICE_QUOTA could tell',
  'export-behind': 'exports go to S3, which is not on one machine; no environment here has one',
  'function-throttles': 'nothing bounds how many instances run: each call can start one',
  'group-capacity': 'servers here have no capacity units',
  'group-cpu': 'all servers and functions share the processors of one machine',
  'group-memory': 'only Aurora judges how its memory does',
  'password-change': 'passwords here are those of the first start; Secrets Manager changes them on AWS',
  'retention-behind': 'it takes over six hours in which nothing is erased',
  'proxy-availability': 'functions connect to the servers themselves, without RDS Proxy',
  'proxy-logins': 'functions connect to the servers themselves, without RDS Proxy',
  'proxy-pool': 'functions connect to the servers themselves, without RDS Proxy',
  'table-throttles': 'the emulator of DynamoDB throttles no requests',
};
