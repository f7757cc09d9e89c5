import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';

/*
 * Which stack a group is in. CloudFormation takes 500 resources and 200 outputs a stack, of which a group of `prod` has 30
 * and six. So the storage's own stack has the first twelve, and each further stack twelve, with their alarms.
 *
 * A group stays where it is: its place follows from its number alone, never from how many there are, since a group that
 * went from one stack to another would be made anew without its cells. More groups come at the end, in the last stack or
 * in one that is new.
 */

export const GROUPS_IN_FIRST_STACK = 12;
const GROUPS_IN_FURTHER_STACK = 12;

type Grouped = Pick<StoreEnvironment, 'groups' | 'groupsInFirstStack'>;

export interface GroupsInStack {
  /** What they are made in. */
  readonly scope: Construct;
  /** From 1 on. */
  readonly numbers: readonly number[];
}

/** How many groups the storage's own stack takes. */
export function groupsInFirstStack({ groupsInFirstStack: most = GROUPS_IN_FIRST_STACK }: Grouped): number {
  return most;
}

/** The groups by their stacks: first those of the storage's own, then those of stacks that are made here. */
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

/** In the same place as the storage's own, and protected like it; named after its first group, which is always the same. */
function furtherStack(scope: Construct, from: number): Stack {
  const { account, region, terminationProtection, tags, stackName } = Stack.of(scope);
  const id = `groups-from-${from}`;
  return new Stack(scope, id, {
    // Several stores may lie in one stack; then its name is made of the path.
    ...(Stack.isStack(scope) && { stackName: `${stackName}-${id}` }),
    env: { account, region },
    ...(terminationProtection !== undefined && { terminationProtection }),
    tags: tags.tagValues(),
    description: `Schemaless: clusters from group-${from} on`,
  });
}

/**
 * Whether another stack can hold groups of the storage: it refers to the storage's network, and the service refers to it,
 * so that neither may be a part of the other.
 */
export function mayHaveFurtherStacks(storage: Construct, service: Construct): boolean {
  const home = Stack.of(storage);
  return !home.nested && home !== outermost(Stack.of(service));
}

function outermost(stack: Stack): Stack {
  return stack.nestedStackParent ? outermost(stack.nestedStackParent) : stack;
}
