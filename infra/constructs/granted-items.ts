import { ERASURES_LEASE, MOVES_LEASE, OPENINGS_KEY } from '../../shared/granted-names.ts';

/*
 * Which items of the two tables each part of a store reads and writes, by their keys: what a function may not touch, no
 * fault of its code does. `*` stands for any text. The local stack refuses everything else, as AWS does.
 */

/** What is kept of everybody who follows the logs under names like these. */
const follower = (name: string): readonly string[] =>
  ['follower', 'offsets', 'checkpoints'].map((kind) => `${kind}#${name}#*`);

/** Leases by group, and where each drain stands. */
export const DRAIN_ITEMS = [OPENINGS_KEY, 'lease#drain/*', 'drain#*'];

/**
 * Records of erasures, what lists them and where entries of theirs are, what triggers keep of cells that may be erased,
 * how far what is out of its retention was looked for, and what was erased of it.
 */
const ERASED = ['erasure#*', 'erasures#*', 'erasing#*', 'trigger#*', 'troubled#*', 'retention#*', 'retained#*'];

/** Who erases. It has to find records by no key: it may read the whole table besides. */
export const ERASE_ITEMS = [OPENINGS_KEY, ...ERASED];

/** Leases by datastore and that of migrations, followers that repair and build, what each compares, and erasures. */
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

/** Who notices that a log was cut, or lets one go on that was set back, raises its shard's epoch; who moves one, too. */
const EPOCHS = 'datastore#*';

export const DRAINED_TOPOLOGY = [EPOCHS];

/** Versions of indexes become live, and are forgotten. */
export const REPAIRED_TOPOLOGY = [EPOCHS, 'index#*', 'progress#*'];

/** Of every trigger: its status, shards that are not in order, messages that are none, and how far its consumers are. */
const TRIGGER_ITEMS = ['trigger#*', 'troubled#*', 'malformed#*', 'consumed#*'];

export const TAIL_ITEMS = [OPENINGS_KEY, 'tailers', 'workers#tail', ...TRIGGER_ITEMS, ...follower('trigger/*')];

export const TAILED_TOPOLOGY = [EPOCHS];

/** A rewind takes the offsets back, and has whoever follows notice. */
export const MANAGE_ITEMS = [OPENINGS_KEY, ...TRIGGER_ITEMS, ...follower('trigger/*')];

/** A migration, or an `apply`, works alone, and forgets triggers that are removed. */
export const MIGRATE_ITEMS = ['lease#migrate', ...TRIGGER_ITEMS, ...follower('trigger/*'), 'workers#trigger/*'];

/** What is written down of each move; one works for them at a time, and for a shard while no migration does. */
export const MOVE_ITEMS = [OPENINGS_KEY, `lease#${MOVES_LEASE}`, 'lease#migrate', 'move#*'];

/** A switch says which group has the shard. */
export const MOVED_TOPOLOGY = [EPOCHS];

/** Who asks for moves writes down what is wanted, and does nothing of it. */
export const MANAGED_MOVES = [OPENINGS_KEY, 'move#*'];

/** Of one trigger's own function: nothing of others, no lease and no offset. */
export function consumedItems(datastore: string, trigger: string): readonly string[] {
  const name = `${datastore}#${trigger}`;
  return [`trigger#${name}`, `troubled#${name}#*`, `malformed#${name}`, `consumed#${name}#*`];
}

/** What a function does with the table of keys. */
export type KeyUse = 'read' | 'make' | 'forget';

export const KEY_ITEMS = ['datastore#*', 'subject#*'];

/** Who makes keys puts items, each under the condition that there is none; to take one away is for those who forget. */
export const KEY_ACTIONS: Readonly<Record<KeyUse, readonly string[]>> = {
  read: ['dynamodb:GetItem', 'dynamodb:BatchGetItem'],
  make: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
  forget: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
};
