/**
 * `npm run rights -- [FUNCTION…]`: removes each statement of each function's policies, one at a time, on a running
 * local stack, and runs the function. Then does so with the rights by which schedules and API Gateway start functions.
 * Without a needed statement, a call is refused. `NOT_HERE` names the services that are not on one machine.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RoleRights } from '../../infra/local/iam/rights.ts';
import type { WrittenStatement } from '../../infra/local/iam/statement.ts';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { textTable } from '../support/text-table.ts';
import { exercises, type Exercise } from './exercises.ts';

/** How long a missing right may stay unnoticed. */
const PATIENCE_MS = 30_000;
/** A schedule starts its function each minute. */
const PATIENCE_WITH_SCHEDULES_MS = 75_000;
const EACH_MS = 250;

/** First actions of functions' statements for services that are not on one machine. */
const NOT_HERE = /^(?:logs|xray|ec2|kms|lambda|states):/u;

interface Tried {
  readonly title: string;
  readonly actions: string;
  readonly refused: string;
  readonly isMissed: boolean;
}

const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'schemaless-rights-'));
const data = join(folder, 'data');
const stack = await startLocalStack({ port: 0, data, groups: 2, readers: 0, shards: 64, log: () => undefined });
const tried: Tried[] = [];
try {
  const ways = exercises(data);
  const titles = new Map(
    stack.functions.status().map(({ title, arn }) => [arn.slice(arn.lastIndexOf(':') + 1), title]),
  );
  const known = new Set(Object.values(stack.rights).map(({ name }) => name));
  for (const [name, title] of titles) if (!known.has(name)) throw new Error(`${title}: wanted rights, got none`);
  const strange = wanted.filter((title) => !titles.values().some((one) => one === title));
  if (strange.length > 0)
    throw new Error(`wanted functions among ${[...titles.values()].join(', ')}, got ${strange.join(', ')}`);
  for (const [key, own] of Object.entries(stack.rights)) {
    if (wanted.length > 0 && !wanted.includes(titles.get(own.name) ?? '')) continue;
    for (const statement of own.statements) {
      const done = await without(stack, { key, own, title: titles.get(own.name) }, statement, ways);
      tried.push(done);
      console.log(`${done.isMissed ? 'missed' : 'NOT MISSED'}  ${done.title}  ${done.actions}  ${done.refused}`);
    }
  }
} finally {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}
const rows = tried.map(({ title, actions, refused }) => [title, actions, refused]);
console.log(`\n${textTable([['function', 'actions', 'first refused without it'], ...rows]).join('\n')}`);
const tooMany = tried.filter(({ isMissed }) => !isMissed);
console.log(`\n${tried.length} statements, ${tooMany.length} that nothing was refused without`);
process.exitCode = tooMany.length === 0 ? 0 : 1;

interface Caller {
  readonly key: string;
  readonly own: RoleRights;
  readonly title: string | undefined;
}

async function without(
  running: LocalStack,
  { key, own, title }: Caller,
  statement: WrittenStatement,
  ways: Readonly<Record<string, Exercise>>,
): Promise<Tried> {
  const list = [statement.Action].flat().map(String);
  const actions = list.length > 2 ? `${list.slice(0, 2).join(' ')} and ${list.length - 2} more` : list.join(' ');
  const isElsewhere = title !== undefined && NOT_HERE.test(list[0] ?? '');
  const patienceMs = title === undefined ? PATIENCE_WITH_SCHEDULES_MS : PATIENCE_MS;
  const statements = own.statements.filter((one) => one !== statement);
  await running.setRights({ ...running.rights, [key]: { ...own, statements } });
  // A new process has no cached answers.
  if (title !== undefined) await running.killFunction(title);
  // After the refusals for the previous statement.
  const from = readFileSync(running.functionLog).length;
  const started = running.functions.status().find(({ arn }) => [statement.Resource].flat().includes(arn));
  // The function of a trigger is called with the cells that others write; a schedule starts its own function.
  const isSchedule = title === undefined && own.role !== undefined;
  const way = isSchedule ? undefined : (ways[title ?? started?.title ?? ''] ?? ways['write-cells']);
  let refused: string | undefined;
  const until = performance.now() + (isElsewhere ? 0 : patienceMs);
  while (refused === undefined && performance.now() < until) {
    await way?.(running);
    await sleep(EACH_MS);
    refused = refusedOf(readFileSync(running.functionLog).subarray(from).toString('utf8'), own.name, list);
  }
  await running.setRights(running.rights);
  return {
    title: title ?? own.name,
    actions,
    refused: refused ?? (isElsewhere ? 'not tried: a service that is not on one machine' : 'nothing'),
    isMissed: refused !== undefined || isElsewhere,
  };
}

/** The first call of a function, or of one, for one of some actions that was refused, shortened. */
function refusedOf(log: string, name: string, actions: readonly string[]): string | undefined {
  const [, action, resource] =
    new RegExp(
      `[/ ]${name} is not authorized to perform: (${actions.join('|')}) on resource: (\\S+(?: with \\S+ \\S+)?)`,
      'u',
    ).exec(log) ?? [];
  return action === undefined ? undefined : `${action} ${resource?.replace(/^.*(?:table\/|:)/u, '').slice(0, 60)}`;
}
