import { isDeepStrictEqual } from 'node:util';
import type { AppliedChange, DefinitionKind } from '../api/definitions.ts';
import {
  markSealed,
  STAYS_SEALED,
  unsealedBy,
  type DatastoreDefinition,
  type Definitions,
  type IndexDefinition,
  type RetentionRule,
  type SealedFields,
  type TriggerDefinition,
} from '../definitions/definitions.ts';
import { ONE_HASH, wrongSealedTypes } from './sealed-types.ts';

/** A desired change that is impossible while the store runs. */
interface FixedProblem {
  readonly kind: DefinitionKind;
  readonly datastore: string;
  readonly name: string;
  readonly field: string;
  readonly wanted: string;
  readonly got: string;
  readonly reason: string;
}

/** A datastore as it is now, deployed or applied. */
export interface CurrentDatastore {
  /** Undefined if the datastore does not exist yet. */
  readonly shards: number | undefined;
  /** It exists without a definition; the plan serves it again. */
  readonly isRetired: boolean;
  /** Undefined if cells are kept for good. */
  readonly retention?: readonly RetentionRule[] | undefined;
  /** @default no field is sealed */
  readonly sealed?: readonly SealedFields[] | undefined;
  /** As last desired, including those being built. */
  readonly indexes: readonly IndexDefinition[];
  readonly triggers: readonly TriggerDefinition[];
  /** The deployment's definition of it, if any. */
  readonly deployed: DatastoreDefinition | undefined;
}

export interface ApplyPlan {
  readonly changes: readonly AppliedChange[];
  /** The problems; with any of them, no change is made. */
  readonly fixed: readonly FixedProblem[];
}

type Fixed = Omit<FixedProblem, 'kind' | 'datastore' | 'name'>;

const BY_DEPLOY = 'the deployment defines it, and would revert the change: change it there and deploy';

const NO_KEY: Fixed = {
  field: 'sealed',
  wanted: 'no sealed fields',
  got: 'some',
  reason: 'this environment has no root key: deploy it with sealsFields first',
};

/**
 * Returns the changes that definitions need, and those that are impossible, by comparison with the current state.
 * `desired`: with this environment's shard counts. `canSeal`: this environment has a root key.
 */
export function planApply(
  desired: Definitions,
  currentOf: (datastore: string) => CurrentDatastore,
  canSeal: boolean,
): ApplyPlan {
  const changes: AppliedChange[] = [];
  const fixed: FixedProblem[] = [];
  for (const datastore of desired.datastores) {
    const current = currentOf(datastore.name);
    const judge = (kind: DefinitionKind, name: string, judged: Judged): void => {
      const of = { kind, datastore: datastore.name, name };
      fixed.push(...judged.fixed.map((one) => ({ ...of, ...one })));
      changes.push({ ...of, change: judged.change, ...(kind === 'datastore' && { shards: datastore.shards }) });
    };
    const judged = judgeDatastore(datastore, current);
    const keyless = datastore.sealed && !canSeal ? [NO_KEY] : [];
    judge('datastore', datastore.name, { ...judged, fixed: [...judged.fixed, ...keyless] });
    const sealedTypes = wrongTypes(datastore, current);
    for (const index of datastore.indexes) {
      const { change, fixed: ownFixed } = judgeIndex(index, current);
      judge('index', index.name, { change, fixed: [...ownFixed, ...sealedTypes(index.name)] });
    }
    for (const trigger of datastore.triggers) judge('trigger', trigger.name, judgeTrigger(trigger, current));
  }
  return { changes, fixed };
}

interface Judged {
  readonly change: AppliedChange['change'];
  readonly fixed: readonly Fixed[];
}

function judgeDatastore({ shards, sealed, retention }: DatastoreDefinition, current: CurrentDatastore): Judged {
  if (current.shards === undefined) return { change: 'create', fixed: [] };
  const isSealedSo = isDeepStrictEqual(current.sealed, sealed);
  if (current.deployed && !isSealedSo)
    return {
      change: 'none',
      fixed: [{ field: 'sealed', wanted: 'as deployed', got: 'something else', reason: BY_DEPLOY }],
    };
  // An environment may deploy another shard count than the YAML has.
  if (current.deployed) return asDeployed({ retention }, { retention: current.deployed.retention });
  const fixed = [...fixedShards(current.shards, shards), ...fixedSealed(current.sealed, sealed)];
  const isAsDesired = !current.isRetired && isSealedSo && isDeepStrictEqual(retention, current.retention);
  return { change: isAsDesired || fixed.length > 0 ? 'none' : 'change', fixed };
}

function fixedShards(now: number, desired: number): readonly Fixed[] {
  const reason = 'the number of shards is fixed when a datastore is created';
  return now === desired ? [] : [{ field: 'shards', wanted: String(now), got: String(desired), reason }];
}

function fixedSealed(now: CurrentDatastore['sealed'], desired: DatastoreDefinition['sealed']): readonly Fixed[] {
  const unsealed = unsealedBy(now, desired);
  if (unsealed.length === 0) return [];
  const got = desired === undefined ? 'no sealed fields' : 'a list without them';
  return [{ field: 'sealed', wanted: unsealed.join(', '), got, reason: STAYS_SEALED }];
}

function judgeIndex(desired: IndexDefinition, { indexes, deployed }: CurrentDatastore): Judged {
  const now = indexes.find(({ name }) => name === desired.name);
  if (deployed?.indexes.some(({ name }) => name === desired.name)) return asDeployed(desired, now);
  if (!now) return { change: 'create', fixed: [] };
  const fixed = [...fixedShardField(now, desired), ...now.fields.flatMap((field) => fixedField(field, desired))];
  return { change: isDeepStrictEqual(now, desired) ? 'none' : 'change', fixed };
}

/** Finds the problems of an index whose sealed fields have other types in other indexes, deployed or applied. */
function wrongTypes(
  { sealed, indexes }: DatastoreDefinition,
  { indexes: now }: CurrentDatastore,
): (index: string) => readonly Fixed[] {
  const further = now.filter(({ name }) => !indexes.some((index) => index.name === name));
  const marked = (index: IndexDefinition): IndexDefinition => markSealed(index, sealed);
  const wrong = wrongSealedTypes(indexes.map(marked), further.map(marked));
  return (name) =>
    wrong
      .filter(({ index }) => index === name)
      .map(({ field, wanted, got }) => ({ field, wanted, got, reason: ONE_HASH }));
}

function fixedShardField({ fields: [now] }: IndexDefinition, { fields: [desired] }: IndexDefinition): readonly Fixed[] {
  if (!now || !desired || now.field === desired.field) return [];
  const reason = 'every query names the shard field, and would find nothing by the new one: make another index';
  return [{ field: 'column_defs[0].fields[0].field', wanted: now.field, got: desired.field, reason }];
}

/** Allows fields to come or go; a field that stays must keep its meaning. */
function fixedField(now: IndexDefinition['fields'][number], desired: IndexDefinition): readonly Fixed[] {
  const same = desired.fields.find(({ field }) => field === now.field);
  if (!same) return [];
  const reason = `queries by ${now.field} would mean something else: make another index, or delete this one first`;
  return (['type', 'column_key'] as const).flatMap((key) =>
    same[key] === now[key] ? [] : [{ field: `${now.field}.${key}`, wanted: now[key], got: same[key], reason }],
  );
}

function judgeTrigger(desired: TriggerDefinition, { triggers, deployed }: CurrentDatastore): Judged {
  const now = triggers.find(({ name }) => name === desired.name);
  if (deployed?.triggers.some(({ name }) => name === desired.name)) return asDeployed(desired, now);
  const fixed: Fixed[] = [];
  if (desired.function !== undefined) {
    const reason =
      'a function is bundled by a deployment: deploy it, or restart npm start, or leave the function out for a consumer elsewhere';
    fixed.push({ field: 'function', wanted: 'nothing', got: desired.function, reason });
  }
  if (!now) return { change: 'create', fixed };
  if (!isDeepStrictEqual(now.start, desired.start)) {
    const reason = 'it has begun already: rewind it to another offset';
    fixed.push({ field: 'start', wanted: startOf(now), got: startOf(desired), reason });
  }
  return { change: isDeepStrictEqual(now, desired) ? 'none' : 'change', fixed };
}

function startOf({ start }: TriggerDefinition): string {
  return typeof start === 'string' ? start : start.since;
}

function asDeployed(desired: object, now: object | undefined): Judged {
  if (isDeepStrictEqual(desired, now)) return { change: 'none', fixed: [] };
  const differs = Object.keys({ ...desired, ...now }).filter(
    (key) => !isDeepStrictEqual(Reflect.get(desired, key), now && Reflect.get(now, key)),
  );
  return {
    change: 'none',
    fixed: differs.map((field) => ({ field, wanted: 'as deployed', got: 'something else', reason: BY_DEPLOY })),
  };
}
