import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';

/**
 * Assigns groups to stacks. CloudFormation allows 500 resources and 200 outputs a stack; a group of `prod` takes 30 and
 * six. The storage's stack takes twelve groups, and each further stack twelve.
 * A group's stack follows from its number alone: a group that changed stacks would be recreated without its cells.
 */

export const GROUPS_IN_FIRST_STACK = 12;
const GROUPS_IN_FURTHER_STACK = 12;

type Grouped = Pick<StoreEnvironment, 'groups' | 'groupsInFirstStack'>;

export interface GroupsInStack {
  readonly scope: Construct;
  readonly numbers: readonly number[];
}

export function groupsInFirstStack({ groupsInFirstStack: most = GROUPS_IN_FIRST_STACK }: Grouped): number {
  return most;
}

export function groupsByStack(scope: Construct, environment: Grouped): readonly [GroupsInStack, ...GroupsInStack[]] {
  const { groups } = environment;
  const first = groupsInFirstStack(environment);
  const further = Array.from({ length: Math.ceil(Math.max(0, groups - first) / GROUPS_IN_FURTHER_STACK) }, (_, at) => {
    const before = first + at * GROUPS_IN_FURTHER_STACK;
    return {
      scope: furtherStack(scope, before + 1),
      numbers: numbersAfter(before, Math.min(groups, before + GROUPS_IN_FURTHER_STACK)),
    };
  });
  return [{ scope, numbers: numbersAfter(0, Math.min(groups, first)) }, ...further];
}

function numbersAfter(before: number, last: number): readonly number[] {
  return Array.from({ length: last - before }, (_, at) => before + at + 1);
}

/** Named after its first group, which never changes. */
function furtherStack(scope: Construct, from: number): Stack {
  const { account, region, terminationProtection, tags, stackName } = Stack.of(scope);
  const id = `groups-from-${from}`;
  return new Stack(scope, id, {
    // Stores that share a stack get names from their paths.
    ...(Stack.isStack(scope) && { stackName: `${stackName}-${id}` }),
    env: { account, region },
    ...(terminationProtection !== undefined && { terminationProtection }),
    tags: tags.tagValues(),
    description: `Schemaless: clusters from group-${from} on`,
  });
}

/** Others refer to the storage's network, and the service to them: a circle if storage and service are one. */
export function mayHaveFurtherStacks(storage: Construct, service: Construct): boolean {
  const home = Stack.of(storage);
  return !home.nested && home !== outermost(Stack.of(service));
}

function outermost(stack: Stack): Stack {
  return stack.nestedStackParent ? outermost(stack.nestedStackParent) : stack;
}
