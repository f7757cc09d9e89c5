import type { AppliedOutcome } from '../api/definitions.ts';
import { markSealed, type Definitions, type IndexDefinition } from '../definitions/definitions.ts';
import { SchemalessError } from '../errors.ts';
import { writeApplied } from '../topology/defined.ts';
import { dynamoTopology } from '../topology/dynamo-topology.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';
import type { DeployedTrigger, TopologySource } from '../topology/topology.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { migrate } from './migrate.ts';
import type { WishedDatastore } from './check-wish.ts';
import { planApply, type ApplyPlan, type CurrentDatastore } from './plan-apply.ts';

/** A datastore as it is now, with what a wish for it is made from. */
interface Known extends CurrentDatastore {
  readonly listed: readonly DeployedTrigger[];
}

/**
 * Makes what the definitions wish and is not there, and changes what may be changed, as a deployment does; what they do
 * not name stays. All is judged before anything is done.
 *
 * What was wished is written down first: whatever ends this, a repetition finishes it, and so does the next deployment.
 * To be done under the lease of the migration.
 *
 * @param wished as their files say them
 * @throws SchemalessError `fixed_definition` with every problem: then nothing was changed
 */
export async function applyDefinitions(
  parts: DefinitionParts,
  wished: Definitions,
  dryRun: boolean,
): Promise<Omit<AppliedOutcome, 'warnings'>> {
  const here = {
    datastores: wished.datastores.map((one) => ({ ...one, shards: Math.min(one.shards, parts.mostShards) })),
  };
  const topology = dynamoTopology(parts.topologyTable);
  const known = new Map<string, Known>();
  for (const { name } of here.datastores) known.set(name, await readKnown(topology, parts.deployed, name));
  const plan = planApply(here, (name) => known.get(name) as Known, parts.canSeal);
  if (plan.fixed.length > 0) throw fixedDefinition(plan);
  if (dryRun) return { done: false, dry_run: true, changes: plan.changes };
  const wishes: WishedDatastore[] = [];
  for (const datastore of here.datastores) {
    const before = known.get(datastore.name) as Known;
    const isTouched = plan.changes.some((one) => one.datastore === datastore.name && one.change !== 'none');
    // A repetition finds all as wished, and may have databases to make all the same.
    if (isTouched || !before.deployed) wishes.push(await wishFor(parts, datastore, before));
  }
  const groups = await topology.groupsNow();
  const done = wishes.length === 0 || (await migrate({ ...parts, wish: { groups, datastores: wishes, isPart: true } }));
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
    indexes: (await topology.indexes(name)).flatMap(lastWished),
    triggers: listed.map(({ definition }) => definition),
    listed,
    deployed: deployed.datastores.find((one) => one.name === name),
  };
}

/** The version that is being built is the later one. */
function lastWished({ versions }: IndexCatalogue): readonly IndexDefinition[] {
  const last =
    versions.findLast(({ state }) => state === 'building') ?? versions.findLast(({ state }) => state === 'live');
  return last ? [last.definition] : [];
}

/** Writes down what is wished of a datastore, and makes its queues. */
async function wishFor(
  { topologyTable, queues }: DefinitionParts,
  { name: datastore, shards, sealed, indexes, triggers, retention: wished }: Definitions['datastores'][number],
  before: Known,
): Promise<WishedDatastore> {
  const { deployed } = before;
  // That of a deployment is its own to change.
  const retention = deployed ? deployed.retention : wished;
  const kept = { ...(retention && { retention }), ...(sealed && { sealed }) };
  if (!deployed) await writeApplied(topologyTable, { kind: 'datastore', datastore, shards, ...kept });
  for (const index of indexes)
    if (!deployed?.indexes.some(({ name }) => name === index.name))
      await writeApplied(topologyTable, { kind: 'index', datastore, index });
  const made: DeployedTrigger[] = [];
  for (const definition of triggers) {
    if (deployed?.triggers.some(({ name }) => name === definition.name)) continue;
    const isNew = !before.listed.some((one) => one.definition.name === definition.name);
    const trigger = await queues.make(datastore, definition, isNew);
    await writeApplied(topologyTable, { kind: 'trigger', datastore, trigger });
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
