import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { writeFileAtomically } from '../folder/state-file.ts';
import type { CustomResourceDefinition } from './resources/custom-resource.ts';
import { localArn } from '../arn.ts';
import { describeResource } from './template.ts';
import { messageOf } from '../message-of.ts';

type Made = Record<string, { readonly physicalId: string; readonly properties: Readonly<Record<string, unknown>> }>;

/** The provider framework polls every ten seconds. */
const POLL_MS = 100;
/** Then the work waits for something that cannot happen on one machine. */
const MOST_POLLS = 300;

/**
 * Creates or updates each custom resource by its own handlers, as CDK's provider framework does. `all`: at each start,
 * since their work may have been undone; `changed`: as in a deployment. Throws if a handler fails.
 */
export async function runCustomResources(
  definitions: readonly CustomResourceDefinition[],
  which: 'all' | 'changed',
  file: string,
  invoke: (functionArn: string, event: string) => Promise<string>,
  mostPolls = MOST_POLLS,
): Promise<void> {
  const made: Made = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const definition of definitions) {
    const { address, properties } = definition;
    const key = `${address.stack.name}/${address.logicalId}`;
    if (which === 'changed' && isDeepStrictEqual(made[key]?.properties, properties)) continue;
    try {
      made[key] = { physicalId: await deploy(definition, made[key], invoke, mostPolls), properties };
    } catch (cause) {
      throw new Error(`${describeResource(address)} failed: ${messageOf(cause)}`, { cause });
    }
    writeFileAtomically(file, JSON.stringify(made));
  }
}

async function deploy(
  definition: CustomResourceDefinition,
  before: Made[string] | undefined,
  invoke: (arn: string, event: string) => Promise<string>,
  mostPolls: number,
): Promise<string> {
  const { address, type, properties, onEventArn, isCompleteArn } = definition;
  const request = {
    RequestType: before ? 'Update' : 'Create',
    RequestId: randomUUID(),
    StackId: localArn('cloudformation', `stack/${address.stack.name}/local`),
    ResourceType: type,
    LogicalResourceId: address.logicalId,
    ResourceProperties: properties,
    ...(before && { PhysicalResourceId: before.physicalId, OldResourceProperties: before.properties }),
  };
  const started: unknown = JSON.parse(await invoke(onEventArn, JSON.stringify(request)));
  const event = { ...request, ...Object(started) };
  const isDone = async (): Promise<boolean> =>
    isCompleteArn === undefined ||
    Object(JSON.parse(await invoke(isCompleteArn, JSON.stringify(event)))).IsComplete === true;
  for (let poll = 1; !(await isDone()); poll += 1) {
    if (poll === mostPolls) throw new Error(`not complete after ${mostPolls} polls, see the log of its functions`);
    await sleep(POLL_MS);
  }
  return String(event.PhysicalResourceId ?? before?.physicalId ?? request.RequestId);
}
