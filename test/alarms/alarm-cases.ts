import type { AlarmCase } from './alarm-case.ts';
import { damagedRow, twoBodies, undecidedBodies, writerHangs } from './breaking/buffers.ts';
import { crashingInstances, withoutSchedules } from './breaking/functions.ts';
import { holeInLog, setBack, unreadableRows } from './breaking/logs.ts';
import { barredErasers } from './breaking/erasures.ts';
import { barredMover } from './breaking/moves.ts';
import { dyingWriter, groupHangs, lockedTable } from './breaking/requests.ts';
import { heldReader, manyConnections } from './breaking/servers.ts';
import { barredQueue, crashingFunction, failingFunction, foreignMessage, slowFunction } from './breaking/triggers.ts';

/** More than `index-lag` lets wait. */
const MANY_CELLS = 100_200;
/** More than a function consumes in twenty minutes that takes ten seconds for each. */
const SLOW_CELLS = 140;

/** What breaks the writers of the second group, one after the other. */
const SECOND_GROUP: readonly AlarmCase[] = [
  {
    sections: ['buffer-parked'],
    fault: 'bytes of a buffered row are damaged',
    cure: 'the row is deleted',
    breaks: (world) => damagedRow(world, 'group-2', 'group-1'),
  },
  {
    sections: ['buffer-conflicts'],
    fault: 'two bodies are buffered for one address while its writer hangs',
    cure: 'POST …/buffer/conflicts/discard',
    breaks: (world) => twoBodies(world, 'group-2'),
  },
  {
    sections: ['buffer-undecided'],
    fault: 'a promoted writer has neither of two bodies whose writers died',
    cure: 'POST …/buffer/undecided/keep',
    breaks: (world) => undecidedBodies(world, 'group-2', 'group-1'),
  },
  {
    sections: ['log-cut'],
    fault: 'a group is set back to before cells that were sent',
    cure: 'none: followers go back by themselves',
    breaks: (world) => setBack(world, 'group-2'),
  },
  {
    sections: ['buffer-oldest'],
    fault: 'a writer hangs, and a write waits for it',
    cure: 'npm run local -- promote',
    withinMinutes: 15,
    breaks: (world) => writerHangs(world, 'group-2'),
  },
  {
    sections: ['move-errors'],
    fault: 'who moves shards may create nothing on the other group',
    cure: 'the right is given back; POST …/moves/…/cancel',
    withinMinutes: 20,
    breaks: (world) => barredMover(world, 'group-2', 'group-1'),
  },
];

/** Those who erase may delete no copies on this one; everything else goes on. */
const ERASING: AlarmCase = {
  sections: ['erasures-open'],
  fault: 'those who erase may delete no buffered copies on a group',
  cure: 'the right is given back',
  withinMinutes: 30,
  breaks: (world) => barredErasers(world, 'group-1'),
};

/** What breaks the third group. */
const THIRD_GROUP: readonly AlarmCase[] = [
  {
    sections: ['server-errors'],
    fault: 'all servers of a group hang',
    cure: 'npm run local -- resume',
    breaks: (world) => groupHangs(world, 'group-3'),
  },
  {
    sections: ['latency'],
    fault: 'somebody locks the table of a shard that is written to',
    cure: 'the session that holds the lock is ended',
    breaks: (world) => lockedTable(world, 'group-3'),
  },
  {
    sections: ['circuits'],
    fault: 'a writer dies every eight seconds',
    cure: 'npm run local -- promote, and it dies no more',
    breaks: (world) => dyingWriter(world, 'group-3'),
  },
];

/** What breaks one trigger, one log, or nobody else's work; the first ones take a quarter of an hour and more. */
const APART: readonly (readonly AlarmCase[])[] = [
  [
    {
      sections: ['trigger-behind', 'trigger-lag'],
      fault: "a trigger's function takes ten seconds a cell",
      cure: 'it is made faster',
      withinMinutes: 30,
      breaks: (world) => slowFunction(world, SLOW_CELLS),
    },
  ],
  [
    {
      sections: ['index-lag'],
      fault: `a shard's rows cannot be read, and ${MANY_CELLS} cells came`,
      cure: 'its table is altered back',
      withinMinutes: 30,
      breaks: (world) => unreadableRows(world, 'many', MANY_CELLS),
    },
  ],
  [ERASING],
  [
    {
      sections: ['trigger-send-failed', 'trigger-unsent'],
      fault: 'tail-shards may not send to a queue',
      cure: 'deploy again',
      withinMinutes: 20,
      breaks: barredQueue,
    },
  ],
  [
    {
      sections: ['trigger-parked', 'trigger-stopped'],
      fault: "a trigger's function fails for three cells",
      cure: 'it is mended; POST …/resume, …/parked/retry',
      breaks: failingFunction,
    },
    {
      sections: ['trigger-malformed'],
      fault: "somebody sends a message to a trigger's queue",
      cure: 'POST …/parked/discard',
      breaks: foreignMessage,
    },
  ],
  [
    {
      sections: ['trigger-given-up'],
      fault: "a trigger's function crashes on a cell",
      cure: 'it is mended; POST …/dead/replay',
      breaks: crashingFunction,
    },
  ],
  [
    {
      sections: ['log-hole'],
      fault: 'a row is gone from a log',
      cure: 'it is put back',
      breaks: (world) => holeInLog(world, 'holed'),
    },
  ],
  [
    {
      sections: ['group-connections'],
      each: true,
      fault: 'somebody opens more connections than the bound',
      cure: 'they are closed',
      breaks: (world) => manyConnections(world, 'group-connections'),
    },
  ],
];

/** What keeps functions from running, all of them, and with that much of what else would ring. */
const FUNCTIONS: readonly AlarmCase[] = [
  {
    sections: ['function-errors'],
    each: true,
    fault: 'instances end while they are called',
    cure: 'they end no more',
    breaks: crashingInstances,
  },
  {
    sections: ['loop-stopped'],
    each: true,
    fault: 'a deployment without schedules',
    cure: 'deploy again',
    breaks: withoutSchedules,
  },
];

const READERS: readonly AlarmCase[] = [
  {
    sections: ['reader-lag'],
    fault: "somebody's session locks a table on a reader",
    cure: 'the session is ended',
    breaks: (world) => heldReader(world, 'group-2'),
  },
];

/** Rounds, one after the other, of lanes that are gone through side by side. */
export const ROUNDS: readonly (readonly (readonly AlarmCase[])[])[] = [
  [...APART, SECOND_GROUP, THIRD_GROUP],
  [FUNCTIONS, READERS],
];

/** By their sections: alarms that nothing on one machine can ring, and why. */
export const NOT_HERE: Readonly<Record<string, string>> = {
  'account-concurrency': 'one machine has no account, nor a quota of one that SERVICE_QUOTA could tell',
  'export-behind': 'exports go to S3, which is not on one machine; no environment here has one',
  'function-throttles': 'nothing bounds how many instances run: one is started for whoever calls',
  'group-capacity': 'servers here have no capacity units',
  'group-cpu': 'all servers and functions share the processors of one machine',
  'group-memory': 'only Aurora judges how its memory does',
  'password-change': 'passwords here are those of the first start; Secrets Manager changes them on AWS',
  'retention-behind': 'it takes over six hours in which nothing is erased',
  'proxy-availability': 'functions connect to the servers themselves, without RDS Proxy',
  'proxy-logins': 'functions connect to the servers themselves, without RDS Proxy',
  'proxy-pool': 'functions connect to the servers themselves, without RDS Proxy',
  'table-throttles': 'the emulator of DynamoDB throttles nobody',
};
