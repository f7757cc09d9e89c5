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

/** Something that a definition wishes and that cannot be had while the store runs. */
interface FixedProblem {
  readonly kind: DefinitionKind;
  readonly datastore: string;
  readonly name: string;
  readonly field: string;
  readonly wanted: string;
  readonly got: string;
  readonly reason: string;
}

/** A datastore as it is now, whoever defined it. */
export interface CurrentDatastore {
  /** Undefined where there is no such datastore yet. */
  readonly shards: number | undefined;
  /** It is there, and nobody defines it: it is served again. */
  readonly isRetired: boolean;
  /** Undefined where cells are kept for good. */
  readonly retention?: readonly RetentionRule[] | undefined;
  /** @default no field is sealed */
  readonly sealed?: readonly SealedFields[] | undefined;
  /** As last wished, those that are being built too. */
  readonly indexes: readonly IndexDefinition[];
  readonly triggers: readonly TriggerDefinition[];
  /** What the deployment defines of it; undefined where that is nothing. */
  readonly deployed: DatastoreDefinition | undefined;
}

export interface ApplyPlan {
  readonly changes: readonly AppliedChange[];
  /** Where there are any, nothing is to be done. */
  readonly fixed: readonly FixedProblem[];
}

type Fixed = Omit<FixedProblem, 'kind' | 'datastore' | 'name'>;

const BY_DEPLOY = 'the deployment defines it, and would take the change back: change it there and deploy';

const NO_KEY: Fixed = {
  field: 'sealed',
  wanted: 'no sealed fields',
  got: 'some',
  reason: 'this environment has no root key: deploy it with sealsFields first',
};

/**
 * What has to be done for definitions to hold, and what of them cannot be had: each is held against what there is
 * before anything is done. `wished`: with the shard counts that this environment gives. `canSeal`: this environment has
 * a root key.
 */
export function planApply(
  wished: Definitions,
  currentOf: (datastore: string) => CurrentDatastore,
  canSeal: boolean,
): ApplyPlan {
  const changes: AppliedChange[] = [];
  const fixed: FixedProblem[] = [];
  for (const datastore of wished.datastores) {
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
  // An environment may give those that it deploys another number than their YAML.
  if (current.deployed) return asDeployed({ retention }, { retention: current.deployed.retention });
  const fixed = [...fixedShards(current.shards, shards), ...fixedSealed(current.sealed, sealed)];
  const isAsWished = !current.isRetired && isSealedSo && isDeepStrictEqual(retention, current.retention);
  return { change: isAsWished || fixed.length > 0 ? 'none' : 'change', fixed };
}

function fixedShards(now: number, wished: number): readonly Fixed[] {
  const reason = 'the number of shards is fixed when a datastore is created';
  return now === wished ? [] : [{ field: 'shards', wanted: String(now), got: String(wished), reason }];
}

function fixedSealed(now: CurrentDatastore['sealed'], wished: DatastoreDefinition['sealed']): readonly Fixed[] {
  const unsealed = unsealedBy(now, wished);
  if (unsealed.length === 0) return [];
  const got = wished === undefined ? 'no sealed fields' : 'a list without them';
  return [{ field: 'sealed', wanted: unsealed.join(', '), got, reason: STAYS_SEALED }];
}

function judgeIndex(wished: IndexDefinition, { indexes, deployed }: CurrentDatastore): Judged {
  const now = indexes.find(({ name }) => name === wished.name);
  if (deployed?.indexes.some(({ name }) => name === wished.name)) return asDeployed(wished, now);
  if (!now) return { change: 'create', fixed: [] };
  const fixed = [...fixedShardField(now, wished), ...now.fields.flatMap((field) => fixedField(field, wished))];
  return { change: isDeepStrictEqual(now, wished) ? 'none' : 'change', fixed };
}

/** By index, what it has of sealed fields that others have otherwise, those of a deployment and of applies too. */
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

function fixedShardField({ fields: [now] }: IndexDefinition, { fields: [wished] }: IndexDefinition): readonly Fixed[] {
  if (!now || !wished || now.field === wished.field) return [];
  const reason = 'every query names the shard field, and would find nothing by the new one: make another index';
  return [{ field: 'column_defs[0].fields[0].field', wanted: now.field, got: wished.field, reason }];
}

/** A field may come or go; one that stays means the same. */
function fixedField(now: IndexDefinition['fields'][number], wished: IndexDefinition): readonly Fixed[] {
  const same = wished.fields.find(({ field }) => field === now.field);
  if (!same) return [];
  const reason = `queries by ${now.field} would mean something else: make another index, or delete this one first`;
  return (['type', 'column_key'] as const).flatMap((key) =>
    same[key] === now[key] ? [] : [{ field: `${now.field}.${key}`, wanted: now[key], got: same[key], reason }],
  );
}

function judgeTrigger(wished: TriggerDefinition, { triggers, deployed }: CurrentDatastore): Judged {
  const now = triggers.find(({ name }) => name === wished.name);
  if (deployed?.triggers.some(({ name }) => name === wished.name)) return asDeployed(wished, now);
  const fixed: Fixed[] = [];
  if (wished.function !== undefined) {
    const reason =
      'a function is bundled by a deployment: deploy it, or restart npm start, or leave the function out for a consumer elsewhere';
    fixed.push({ field: 'function', wanted: 'nothing', got: wished.function, reason });
  }
  if (!now) return { change: 'create', fixed };
  if (!isDeepStrictEqual(now.start, wished.start)) {
    const reason = 'it has begun already: rewind it to another place';
    fixed.push({ field: 'start', wanted: startOf(now), got: startOf(wished), reason });
  }
  return { change: isDeepStrictEqual(now, wished) ? 'none' : 'change', fixed };
}

function startOf({ start }: TriggerDefinition): string {
  return typeof start === 'string' ? start : start.since;
}

function asDeployed(wished: object, now: object | undefined): Judged {
  if (isDeepStrictEqual(wished, now)) return { change: 'none', fixed: [] };
  const differs = Object.keys({ ...wished, ...now }).filter(
    (key) => !isDeepStrictEqual(Reflect.get(wished, key), now && Reflect.get(now, key)),
  );
  return {
    change: 'none',
    fixed: differs.map((field) => ({ field, wanted: 'as deployed', got: 'something else', reason: BY_DEPLOY })),
  };
}
