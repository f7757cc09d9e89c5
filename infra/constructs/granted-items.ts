import { ERASURES_LEASE, MOVES_LEASE, OPENINGS_KEY } from '../../shared/granted-names.ts';

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

/** Raises a shard's epoch: after a cut or restored log, or a move. */
const EPOCHS = 'datastore#*';

export const DRAINED_TOPOLOGY = [EPOCHS];

/** Index versions become live or are deleted. */
export const REPAIRED_TOPOLOGY = [EPOCHS, 'index#*', 'progress#*'];

const TRIGGER_ITEMS = ['trigger#*', 'troubled#*', 'malformed#*', 'consumed#*'];

export const TAIL_ITEMS = [OPENINGS_KEY, 'tailers', 'workers#tail', ...TRIGGER_ITEMS, ...follower('trigger/*')];

export const TAILED_TOPOLOGY = [EPOCHS];

export const MANAGE_ITEMS = [OPENINGS_KEY, ...TRIGGER_ITEMS, ...follower('trigger/*')];

export const MIGRATE_ITEMS = ['lease#migrate', ...TRIGGER_ITEMS, ...follower('trigger/*'), 'workers#trigger/*'];

export const MOVE_ITEMS = [OPENINGS_KEY, `lease#${MOVES_LEASE}`, 'lease#migrate', 'move#*', 'verified#*'];

export const MOVED_TOPOLOGY = [EPOCHS];

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
