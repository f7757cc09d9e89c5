import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  CreateDBInstanceMessage$,
  ModifyDBClusterMessage$,
  ModifyDBInstanceMessage$,
  RestoreDBClusterFromSnapshotMessage$,
  RestoreDBClusterToPointInTimeMessage$,
} from '@aws-sdk/client-rds';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { ENVIRONMENTS } from '../../../infra/environments.ts';
import { restorePlan, type RestoreOrder } from '../../../infra/restore/plan.ts';
import { appOf, STAND_INS } from '../support/synthesized.ts';

const REQUESTS: Readonly<Record<string, readonly unknown[]>> = {
  'create-db-instance': CreateDBInstanceMessage$,
  'modify-db-cluster': ModifyDBClusterMessage$,
  'modify-db-instance': ModifyDBInstanceMessage$,
  'restore-db-cluster-from-snapshot': RestoreDBClusterFromSnapshotMessage$,
  'restore-db-cluster-to-point-in-time': RestoreDBClusterToPointInTimeMessage$,
};
/** They show each call, and answer with the name that it asks for. */
const TOOLS = `
  aws() {
    said aws "$@"
    case "$2" in
      describe-stack-resource) echo "$6" ;;
      describe-db-clusters) echo "arn-of-$4" ;;
      get-queue-attributes) echo '{"Attributes":{"Policy":"denies"}}' ;;
      *) echo "an-answer" ;;
    esac
  }
  said() { { printf '%s' "$1"; shift; printf ' %s' "$@"; echo; } >&3; }
  jq() { if [ "$1" = -c ]; then sed 's/.*"Attributes"://; s/}$//'; else cat; fi; }
  npx() { said npx "$@"; }
  node() { said node "$@"; }
  sleep() { :; } # // Clock: no plan waits here
  cd "$(mktemp -d)"
`;

function plan(environment: 'prod' | 'small', order: Partial<RestoreOrder> = {}): string {
  return restorePlan({
    stacks: appOf({ environment }).stacks,
    environment: ENVIRONMENTS[environment],
    context: { environment },
    what: 'group-1',
    time: '2026-11-30T10:00:00Z',
    isDeleted: false,
    vault: undefined,
    ...order,
  });
}

/** Runs a plan in bash with stand-ins for its tools. Returns the calls that change something. */
function callsOf(script: string): readonly string[] {
  const said = execFileSync('bash', ['-euc', `exec 3>&1 1>/dev/null\n${TOOLS}\n${script}`], { encoding: 'utf8' });
  return said.split('\n').filter((line) => line !== '' && !/^aws \S+ (?:describe|get|list|wait)/u.test(line));
}

/** `modify-db-cluster x → y`: the steps without their settings. */
function stepsOf(script: string): readonly string[] {
  return callsOf(script).map((call) => {
    const [, verb = call] = /^aws \S+ (\S+)/u.exec(call) ?? [];
    const [, of = ''] =
      / --(?:db-cluster-identifiers?|db-instance-identifier|resource-arn|queue-url) (\S+)/u.exec(call) ?? [];
    const [, to] = / --new-db-\w+-identifier (\S+)/u.exec(call) ?? [];
    return [verb.split(' ')[0], of, ...(to === undefined ? [] : ['→', to])].join(' ').trim();
  });
}

const ID = 'schemaless-prod-group-1';
const SMALL = 'schemaless-small-group-1';

describe('the plan of one group', () => {
  it('isolates, restores, closes, swaps and connects it', () => {
    expect(stepsOf(plan('prod'))).toEqual([
      `deregister-db-proxy-targets ${ID}`,
      `modify-db-instance group1clusteraE37D33B1 → ${ID}-old-0`,
      `modify-db-instance group1clusterb134A6C05 → ${ID}-old-1`,
      `modify-db-instance group1clusterc299632A4 → ${ID}-old-2`,
      `restore-db-cluster-to-point-in-time ${ID}-new`,
      ...['a', 'b', 'c'].map(() => `create-db-instance ${ID}-new`),
      `enable-http-endpoint arn-of-${ID}-new`,
      `modify-db-cluster ${ID}-new`,
      `execute-statement arn-of-${ID}-new`,
      `modify-db-cluster ${ID} → ${ID}-old`,
      `modify-db-cluster ${ID}-new → ${ID}`,
      `disable-http-endpoint arn-of-${ID}`,
      `enable-http-endpoint arn-of-${ID}`,
      `register-db-proxy-targets ${ID}`,
      'npx',
    ]);
  });

  it('keeps the names that CloudFormation knows, and the settings and tags of the template', () => {
    const calls = callsOf(plan('prod'));
    expect(calls.filter((call) => call.includes(' create-db-instance ')).map((call) => call.split(' ')[6])).toEqual([
      'group1clusteraE37D33B1',
      'group1clusterb134A6C05',
      'group1clusterc299632A4',
    ]);
    expect(calls.find((call) => call.includes(' restore-'))).toMatch(
      / --restore-to-time 2026-11-30T10:00:00Z .*--db-subnet-group-name group1clusterSubnets\w+ --deletion-protection .*MaxCapacity=16,MinCapacity=1 --tags Key=schemaless:group,Value=group-1 --vpc-security-group-ids group1security\w+$/u,
    );
    expect(calls.at(-1)).toBe('npx cdk deploy --all -c environment=prod -c schemaless:migrate=2026-11-30T10:00:00Z');
  });

  it('turns the Data API off first without a proxy, and off and on behind the last rename', () => {
    const steps = stepsOf(plan('small')).filter((step) => /endpoint|cluster .*→|targets/u.test(step));
    expect(steps).toEqual([
      `disable-http-endpoint arn-of-${SMALL}`,
      `enable-http-endpoint arn-of-${SMALL}-new`,
      `modify-db-cluster ${SMALL} → ${SMALL}-old`,
      `modify-db-cluster ${SMALL}-new → ${SMALL}`,
      `disable-http-endpoint arn-of-${SMALL}`,
      `enable-http-endpoint arn-of-${SMALL}`,
    ]);
  });

  it('asks nothing of a deleted cluster: it restores a kept backup by its resource id, or a copy of a vault', () => {
    const kept = callsOf(plan('prod', { isDeleted: true }));
    expect(kept[0]).toContain('restore-db-cluster-to-point-in-time --source-db-cluster-resource-id an-answer ');
    const copied = callsOf(plan('prod', { isDeleted: true, vault: 'elsewhere' }));
    expect(copied[0]).toContain(
      'restore-db-cluster-from-snapshot --snapshot-identifier an-answer --engine aurora-mysql',
    );
    expect([...kept, ...copied].filter((call) => / modify-db-instance | deregister| .*-old/u.test(call))).toEqual([]);
  });

  it('sends flags that RDS knows', () => {
    const calls = [plan('prod'), plan('small'), plan('prod', { vault: 'elsewhere' })].flatMap(callsOf);
    for (const call of calls) {
      const [, verb = ''] = /^aws rds (\S+)/u.exec(call) ?? [];
      const members = REQUESTS[verb]?.[4] as readonly string[] | undefined;
      const known = members?.map((name) => name.toLowerCase()).concat('applyimmediately');
      const flags = [...call.matchAll(/ --(?:no-)?(\S+)/gu)].map(([, flag = '']) => flag.replaceAll('-', ''));
      expect([verb, flags.filter((flag) => known?.includes(flag) === false)]).toEqual([verb, []]);
    }
  });

  it('of an unknown group is refused', () => {
    const managed = { ...ENVIRONMENTS.prod, managedInstances: { requestsAtOnce: 64 } };
    expect(() => plan('prod', { what: 'all', environment: managed })).toThrow('managedInstances: wanted none');
    expect(() => plan('small', { what: 'group-9' })).toThrow(
      'group: wanted one of group-1, group-2, group-3 or all, got group-9',
    );
  });
});

it('is printed by the command, which refuses another form of time', async () => {
  const run = promisify(execFile);
  const command = [join(PROJECT_ROOT, 'infra/restore/command.ts'), 'group-2'];
  const context = ['-c', 'environment=small', '-c', `functions=${STAND_INS}`];
  const { stdout } = await run(process.execPath, [...command, '2026-11-30T10:00:00Z', ...context]);
  expect(stdout).toContain('# group-2, 6: swap the names.');
  await expect(run(process.execPath, [...command, 'yesterday', ...context])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Wanted a time such as 2026-11-30T10:00:00Z, got yesterday.'),
  });
});

describe('the plan of everything', () => {
  const calls = callsOf(plan('prod', { what: 'all' }));

  it('stops every function first, and gives each its instances back at the end', () => {
    const functions = calls.filter((call) => call.startsWith('aws lambda'));
    const stopped = functions.filter((call) => call.endsWith(' 0'));
    expect(calls.slice(0, stopped.length)).toEqual(stopped);
    expect(stopped).toHaveLength(13);
    expect(functions).toHaveLength(2 * stopped.length);
    expect(functions).toContainEqual(expect.stringMatching(/writecells\w+ --reserved-concurrent-executions 180$/u));
    expect(functions).toContainEqual(expect.stringMatching(/^aws lambda delete-.*triggersmokeecho/u));
    expect(functions.filter((call) => call.includes('migration'))).toEqual([]);
  });

  it('restores every group and both tables, but not the keys', () => {
    expect(calls.filter((call) => call.includes('restore-db-cluster'))).toHaveLength(8);
    expect(calls.filter((call) => call.startsWith('node')).map((call) => call.split(' ').slice(2).join(' '))).toEqual([
      'schemaless-prod-topology-restored tablestopology03C0A74D',
      'schemaless-prod-state-restored tablesstateC940E36A',
    ]);
  });

  it('takes the policy that denies purges from each queue, and puts it back', () => {
    const ofQueues = calls.filter((call) => call.startsWith('aws sqs'));
    expect(ofQueues).toHaveLength(12);
    for (let nth = 0; nth < ofQueues.length; nth += 3) {
      const [, queue = ''] = /--queue-url (\S+)/u.exec(ofQueues[nth] ?? '') ?? [];
      expect(ofQueues.slice(nth, nth + 3)).toEqual([
        `aws sqs set-queue-attributes --queue-url ${queue} --attributes {"Policy":""}`,
        `aws sqs purge-queue --queue-url ${queue}`,
        `aws sqs set-queue-attributes --queue-url ${queue} --attributes file://policy.json`,
      ]);
    }
  });
});
