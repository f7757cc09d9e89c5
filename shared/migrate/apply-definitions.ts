import type { AppliedOutcome } from '../api/definitions.ts';
import { markSealed, type Definitions, type IndexDefinition } from '../definitions/definitions.ts';
import { SchemalessError } from '../errors.ts';
import { writeApplied } from '../topology/defined.ts';
import { dynamoTopology } from '../topology/dynamo-topology.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';
import type { DeployedTrigger, TopologySource } from '../topology/topology.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { migrate } from './migrate.ts';
import type { DesiredDatastore } from './check-desired-state.ts';
import { planApply, type ApplyPlan, type CurrentDatastore } from './plan-apply.ts';

/** A datastore as it is now, with the triggers for its desired state. */
interface Known extends CurrentDatastore {
  readonly listed: readonly DeployedTrigger[];
}

/**
 * Creates what the definitions desire and the store lacks, and changes what may change, as a deployment does. Keeps all
 * that they do not name. Checks everything before the first change.
 *
 * Records the desired state first, so that a retry or the next deployment finishes an interrupted run. Must run under
 * the migration's lease.
 *
 * @param desired as in its files
 * @throws SchemalessError `fixed_definition` with every problem: then nothing was changed
 */
export async function applyDefinitions(
  parts: DefinitionParts,
  desired: Definitions,
  dryRun: boolean,
): Promise<Omit<AppliedOutcome, 'warnings'>> {
  const here = {
    datastores: desired.datastores.map((one) => ({ ...one, shards: Math.min(one.shards, parts.mostShards) })),
  };
  const topology = dynamoTopology(parts.topologyTable);
  const known = new Map<string, Known>();
  for (const { name } of here.datastores) known.set(name, await readKnown(topology, parts.deployed, name));
  const plan = planApply(here, (name) => known.get(name) as Known, parts.canSeal);
  if (plan.fixed.length > 0) throw fixedDefinition(plan);
  if (dryRun) return { done: false, dry_run: true, changes: plan.changes };
  const requests: DesiredDatastore[] = [];
  for (const datastore of here.datastores) {
    const before = known.get(datastore.name) as Known;
    const isTouched = plan.changes.some((one) => one.datastore === datastore.name && one.change !== 'none');
    // A retry finds everything as desired, but may still have databases to create.
    if (isTouched || !before.deployed) requests.push(await recordDesired(parts, datastore, before));
  }
  const groups = await topology.groupsNow();
  const done =
    requests.length === 0 || (await migrate({ ...parts, desired: { groups, datastores: requests, isPart: true } }));
  return { done, dry_run: false, changes: plan.changes };
}

async function readKnown(topology: TopologySource, deployed: Definitions, name: string): Promise<Known> {
  const existing = await topology.datastore(name);
  const listed = await topology.triggers(name);
  return {
    shards: existing?.shards,
    isRetired: existing !== undefined && !(await topology.served()).includes(name),
    retention: existing?.retention,
    sealed: existing?.sealed,
    indexes: (await topology.indexes(name)).flatMap(lastDesired),
    triggers: listed.map(({ definition }) => definition),
    listed,
    deployed: deployed.datastores.find((one) => one.name === name),
  };
}

/** Returns the version being built, if any, since it is later than the live one. */
function lastDesired({ versions }: IndexCatalogue): readonly IndexDefinition[] {
  const last =
    versions.findLast(({ state }) => state === 'building') ?? versions.findLast(({ state }) => state === 'live');
  return last ? [last.definition] : [];
}

/** Records the desired state of a datastore, and creates its queues. */
async function recordDesired(
  { topologyTable, queues }: DefinitionParts,
  { name: datastore, shards, sealed, indexes, triggers, retention: desired }: Definitions['datastores'][number],
  before: Known,
): Promise<DesiredDatastore> {
  const { deployed } = before;
  // Only a deployment changes the retention that it defines.
  const retention = deployed ? deployed.retention : desired;
  const kept = { ...(retention && { retention }), ...(sealed && { sealed }) };
  if (!deployed)
    await writeApplied(topologyTable, { kind: 'datastore', datastore, name: datastore }, { shards, ...kept });
  for (const index of indexes)
    if (!deployed?.indexes.some(({ name }) => name === index.name))
      await writeApplied(topologyTable, { kind: 'index', datastore, name: index.name }, index);
  const made: DeployedTrigger[] = [];
  for (const definition of triggers) {
    if (deployed?.triggers.some(({ name }) => name === definition.name)) continue;
    const isNew = !before.listed.some((one) => one.definition.name === definition.name);
    const trigger = await queues.make(datastore, definition, isNew);
    await writeApplied(topologyTable, { kind: 'trigger', datastore, name: definition.name }, trigger);
    made.push(trigger);
  }
  const further = before.indexes.filter(({ name }) => !indexes.some((index) => index.name === name));
  const isLeft = ({ definition }: DeployedTrigger): boolean =>
    !made.some((one) => one.definition.name === definition.name);
  return {
    name: datastore,
    shards: before.shards ?? shards,
    ...kept,
    indexes: [...indexes, ...further.map((index) => markSealed(index, sealed))],
    triggers: [...made, ...before.listed.filter(isLeft)],
  };
}

function fixedDefinition({ fixed }: ApplyPlan): SchemalessError {
  const lines = fixed.map(
    ({ kind, datastore, name, field, wanted, got, reason }) =>
      `${kind} ${kind === 'datastore' ? name : `${datastore}/${name}`}: ${field}: wanted ${wanted}, got ${got}: ${reason}`,
  );
  const [first] = fixed;
  return new SchemalessError('fixed_definition', lines.join('; '), {
    ...(first && { field: first.field, wanted: first.wanted, got: first.got }),
    more: { problems: fixed },
  });
}
