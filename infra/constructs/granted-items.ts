import { ERASURES_LEASE, MOVES_LEASE, OPENINGS_KEY, appliedQueuePrefix } from '../../shared/granted-names.ts';
import { PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Stack } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { StoreEnvironment } from './store-environment.ts';
import { acknowledgeArn } from './evidence.ts';

/**
 * Keys of the items that each part of a store reads and writes; `*` stands for any text. A fault in a function's code
 * cannot touch others. The local stack enforces the same.
 */

/** The state of a log's followers with these names. */
const follower = (name: string): readonly string[] =>
  ['follower', 'offsets', 'checkpoints'].map((kind) => `${kind}#${name}#*`);

export const DRAIN_ITEMS = [OPENINGS_KEY, 'lease#drain/*', 'drain#*'];

/** Erasure records and lists, the triggers' copies of cells, and the progress of retention. */
const ERASED = ['erasure#*', 'erasures#*', 'erasing#*', 'trigger#*', 'troubled#*', 'retention#*', 'retained#*'];

/** Erasing finds records without a key, so it may also scan the table. */
export const ERASE_ITEMS = [OPENINGS_KEY, ...ERASED];

export const REPAIR_ITEMS = [
  OPENINGS_KEY,
  'lease#repair/*',
  'lease#migrate',
  'workers#repair',
  ...follower('repair'),
  ...follower('build/*'),
  'workers#build/*',
  'due#*',
  'pending#*',
  'verified#*',
  'verifying#*',
  'writer#*',
  `lease#${ERASURES_LEASE}`,
  ...ERASED,
];

/** For functions that raise a shard's epoch: after a cut or restored log, or a move. */
export const EPOCHS = ['datastore#*'];

/** Index versions become live or are deleted. */
export const REPAIRED_TOPOLOGY = [...EPOCHS, 'index#*', 'progress#*'];

const TRIGGER_ITEMS = ['trigger#*', 'troubled#*', 'malformed#*', 'consumed#*'];

export const TAIL_ITEMS = [OPENINGS_KEY, 'tailers', 'workers#tail', ...TRIGGER_ITEMS, ...follower('trigger/*')];

export const MANAGE_ITEMS = [OPENINGS_KEY, ...TRIGGER_ITEMS, ...follower('trigger/*')];

export const MIGRATE_ITEMS = [
  'lease#migrate',
  'migration',
  ...TRIGGER_ITEMS,
  ...follower('trigger/*'),
  'workers#trigger/*',
];

export const MOVE_ITEMS = [OPENINGS_KEY, `lease#${MOVES_LEASE}`, 'lease#migrate', 'move#*', 'verified#*'];

/** Management only records the desired state. */
export const MANAGED_MOVES = [OPENINGS_KEY, 'move#*'];

/** One trigger's function: no lease and no offset, nothing of other triggers. */
export function consumedItems(datastore: string, trigger: string): readonly string[] {
  const name = `${datastore}#${trigger}`;
  return [`trigger#${name}`, `troubled#${name}#*`, `malformed#${name}`, `consumed#${name}#*`];
}

export type KeyUse = 'read' | 'make' | 'forget';

export const KEY_ITEMS = ['datastore#*', 'subject#*'];

/** Making a key puts an item on condition that there is none. */
export const KEY_ACTIONS: Readonly<Record<KeyUse, readonly string[]>> = {
  read: ['dynamodb:GetItem', 'dynamodb:BatchGetItem'],
  make: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
  forget: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
};

export const READ_TOPOLOGY = ['dynamodb:GetItem', 'dynamodb:Scan'];

export const WRITE_TOPOLOGY = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

export const STATE_ITEMS = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

/** Every action of the store on its tables. */
export const TABLE_ACTIONS = [...new Set([...READ_TOPOLOGY, ...WRITE_TOPOLOGY, ...STATE_ITEMS])];

/**
 * Allows actions on items with these keys only. `actions`: of single items: reads of a whole table have no keys, and
 * would pass. `keys`: `*` stands for any text.
 */
export function grantItems(
  grantee: IGrantable,
  table: Pick<ITable, 'tableArn'>,
  actions: readonly string[],
  keys: readonly string[],
): void {
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      actions: [...actions],
      resources: [table.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } },
    }),
  );
}

export const READ_QUEUE_STATE = ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl'];

export const SEND_TO_QUEUE = ['sqs:SendMessage', ...READ_QUEUE_STATE];

export const TAKE_FROM_QUEUE = ['sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'];

const MAKE_QUEUE = ['sqs:CreateQueue', 'sqs:SetQueueAttributes', 'sqs:DeleteQueue', ...READ_QUEUE_STATE];

export const QUEUE_ACTIONS = [...new Set([...SEND_TO_QUEUE, ...TAKE_FROM_QUEUE, ...MAKE_QUEUE])];

/** Actions on queues made through the API, by the end of their names. */
const ACTIONS = {
  send: { '*': SEND_TO_QUEUE },
  manage: {
    '*': READ_QUEUE_STATE,
    '*-dead.fifo': TAKE_FROM_QUEUE,
  },
  make: { '*': MAKE_QUEUE },
} as const;

/** Allows a function these actions on all queues with the environment's prefix. */
export function grantAppliedQueues(
  grantee: LambdaFunction,
  environment: StoreEnvironment,
  how: keyof typeof ACTIONS,
): void {
  for (const [end, actions] of Object.entries<readonly string[]>(ACTIONS[how])) {
    const resource = `${appliedQueuePrefix(environment.name)}${end}`;
    const arn = Stack.of(grantee).formatArn({ service: 'sqs', resource });
    grantee.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [arn] }));
    // Queues made through the API share a prefix.
    acknowledgeArn(
      grantee,
      arn,
      'The wildcard stands for the rest of the names of queues that are made through the API',
    );
  }
}
