import { LARGEST_ACU } from './database.ts';
import type { Plan } from './plan.ts';
import { GB } from './prices.ts';

/** Something that a plan may need more of than there is. */
export interface Limit {
  /** As AWS's console for quotas names it, or what it is. */
  readonly name: string;
  readonly unit: string;
  readonly most: (plan: Plan) => number;
  readonly needed: (plan: Plan) => number;
  /** Who can raise it, and what to do. */
  readonly raise: string;
}

const MESSAGES_A_BATCH = 10;
/** Of the functions' security group: to nowhere, to AWS and to the endpoints. */
const OTHER_RULES = 3;
/** A volume of Aurora MySQL from 3.10 on. */
const VOLUME_BYTES = 256 * 1024 * GB;

const always = (most: number) => (): number => most;
const concurrencyOf = ({ traffic: { writeCells, readCells, triggerFunctions, loops } }: Plan): number =>
  Math.ceil(writeCells.concurrency + readCells.concurrency + triggerFunctions.concurrency + loops.concurrency);

/** Quotas of AWS, by default values of us-east-1, from its documentation of autumn 2026. */
export const QUOTAS: readonly Limit[] = [
  {
    name: 'Lambda: concurrent executions',
    unit: 'at once',
    most: always(1000),
    needed: concurrencyOf,
    raise: 'Service Quotas (Lambda). New accounts begin with fewer. A burst gains 1,000 in 10 s for each function',
  },
  {
    name: 'API Gateway: throttle rate',
    unit: '/s',
    most: always(10_000),
    needed: ({ traffic }) => traffic.requests,
    raise:
      'Service Quotas (API Gateway), for all APIs of the region together; then `throttle` of the environment. Or ask less often: `batch-put` and `batch-get` take 100 cells',
  },
  {
    name: 'RDS: DB clusters',
    unit: '',
    most: always(40),
    needed: ({ database }) => database.groups,
    raise: 'Service Quotas (RDS)',
  },
  {
    name: 'RDS: DB instances',
    unit: '',
    most: always(40),
    needed: ({ database }) => database.nodes,
    raise: 'Service Quotas (RDS); or fewer `readersPerGroup`',
  },
  {
    name: 'RDS: proxies',
    unit: '',
    most: always(20),
    needed: ({ load, database }) => (load.environment.proxy ? database.groups : 0),
    raise: 'Service Quotas (RDS)',
  },
  {
    name: 'VPC: outbound rules of a security group',
    unit: '',
    most: always(60),
    needed: ({ load, database }) => (load.environment.access === 'mysql' ? database.groups + OTHER_RULES : 0),
    raise: 'Service Quotas (VPC): the functions have one for each group',
  },
  {
    name: 'Aurora: ACUs of an instance',
    unit: 'ACU',
    most: always(LARGEST_ACU),
    needed: ({ database }) => database.writerAcu,
    raise: 'Cannot be raised: more groups',
  },
  {
    name: 'Aurora: size of a volume',
    unit: 'GB',
    most: always(VOLUME_BYTES / GB),
    needed: ({ database }) => database.storedBytes / database.groups / GB,
    raise: 'Cannot be raised: more groups',
  },
  {
    name: 'SQS: API requests of a FIFO queue, each action',
    unit: '/s',
    most: always(70_000),
    needed: ({ traffic }) => traffic.triggerCells,
    raise:
      'Service Quotas (SQS); other regions have 2,400 to 19,000. A request with messages of ten shards is counted in each of their partitions',
  },
  {
    name: 'SQS: requests of one message group',
    unit: '/s',
    most: always(300),
    needed: ({ load, traffic }) => traffic.triggerCells / load.shards,
    raise: 'Cannot be raised: more shards, when the datastore is made',
  },
  {
    name: 'SQS: messages in flight',
    unit: '',
    most: always(120_000),
    needed: ({ traffic }) => Math.ceil(traffic.triggerFunctions.concurrency) * MESSAGES_A_BATCH,
    raise: 'Cannot be raised: faster functions',
  },
  {
    name: 'Lambda: concurrency of an event source',
    unit: 'at once',
    most: always(1000),
    needed: ({ traffic }) => Math.ceil(traffic.triggerFunctions.concurrency),
    raise: 'Cannot be raised; faster functions, or consumers of your own on the queue',
  },
  {
    name: 'DynamoDB: write units of one item',
    unit: '/s',
    most: always(1000),
    needed: ({ traffic }) => traffic.loops.tailers,
    raise: 'Cannot be raised: all tailers announce themselves in one item, once a second',
  },
  {
    name: 'DynamoDB: read units of one item',
    unit: '/s',
    most: always(3000),
    needed: ({ state }) => state.readsOfOneItem,
    raise: "Cannot be raised: fewer instances of a trigger's function, each reads the trigger's state once a second",
  },
];
