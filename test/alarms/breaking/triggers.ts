import {
  GetQueueAttributesCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { randomUUID } from 'node:crypto';
import type { RightsByKey } from '../../../infra/local/iam/rights.ts';
import type { WrittenStatement } from '../../../infra/local/iam/statement.ts';
import { awsLogin } from '../../../infra/local/login/aws-login.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { AlarmCase } from '../ring.ts';
import { moodColumn, MOODS, type Mood } from '../functions/as-told.ts';

/** The group of all faults of triggers; no other fault breaks it. */
const GROUP = 'group-1';
let told = 0;

async function tell(world: AlarmWorld, trigger: string, mood: Mood): Promise<void> {
  told += 1;
  const { datastore, row_key } = MOODS;
  await world.of(datastore).put({ row_key, column_name: moodColumn(trigger), ref_key: told, body: mood });
}

async function putCells(world: AlarmWorld, column: string, count: number): Promise<void> {
  const { row } = await world.rowIn(GROUP, 'work');
  const work = world.of('work');
  for (let refKey = 1; refKey <= count; refKey += 1)
    await work.put({ row_key: row, column_name: column, ref_key: refKey, body: { number: refKey } });
}

/** More than a function consumes in twenty minutes that takes ten seconds for each. */
const SLOW_CELLS = 140;

export const SLOW_FUNCTION: AlarmCase = {
  sections: ['trigger-behind', 'trigger-lag'],
  fault: "a trigger's function takes ten seconds a cell",
  fix: 'it is made faster',
  withinMinutes: 30,
  async breaks(world) {
    await tell(world, 'slow', 'slow');
    await putCells(world, 'SLOW', SLOW_CELLS);
    return () => tell(world, 'slow', 'well');
  },
};

export const FAILING_FUNCTION: AlarmCase = {
  sections: ['trigger-parked', 'trigger-stopped'],
  fault: "a trigger's function fails for three cells",
  fix: 'it is fixed; POST …/resume, …/parked/retry',
  async breaks(world) {
    await tell(world, 'sick', 'failing');
    await putCells(world, 'SICK', 3);
    return async () => {
      await tell(world, 'sick', 'well');
      await world.of('work').resumeTrigger({ trigger: 'sick' });
      await world.of('work').retryParkedCells({ trigger: 'sick', cells: '*' });
    };
  },
};

export const FOREIGN_MESSAGE: AlarmCase = {
  sections: ['trigger-malformed'],
  fault: "a foreign message is sent to a trigger's queue",
  fix: 'POST …/parked/discard',
  async breaks(world) {
    const message = {
      QueueUrl: queueOf(world, 'sick'),
      MessageBody: 'not ours',
      MessageGroupId: 'theirs',
      MessageDeduplicationId: randomUUID(),
    };
    await withSqs(world, (client) => client.send(new SendMessageCommand(message)));
    return () => world.of('work').discardParkedCells({ trigger: 'sick', cells: '*' });
  },
};

/** Receipts that SQS counts to, and how long a message is hidden: with those of the template it takes half a day. */
const RECEIPTS = 2;
const HIDDEN_SECONDS = 5;

export const CRASHING_FUNCTION: AlarmCase = {
  sections: ['trigger-given-up'],
  fault: "a trigger's function crashes on a cell",
  fix: 'it is fixed; POST …/dead/replay',
  async breaks(world) {
    const QueueUrl = queueOf(world, 'crashing');
    const names = ['RedrivePolicy', 'VisibilityTimeout'] as const;
    const before = await withSqs(world, async (client) => {
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...names] });
      const { Attributes = {} } = await client.send(command);
      return Attributes;
    });
    const policy: object = JSON.parse(before['RedrivePolicy'] ?? '{}');
    const set = (Attributes: Record<string, string>): Promise<unknown> =>
      withSqs(world, (client) => client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes })));
    await set({
      RedrivePolicy: JSON.stringify({ ...policy, maxReceiveCount: RECEIPTS }),
      VisibilityTimeout: String(HIDDEN_SECONDS),
    });
    await tell(world, 'crashing', 'crashing');
    await putCells(world, 'CRASHING', 1);
    return async () => {
      await tell(world, 'crashing', 'well');
      await set(before);
      await world.insist(async () => {
        const { left } = await world.of('work').replayDeadMessages({ trigger: 'crashing' });
        if (left !== 0) throw new Error(`wanted nothing left, got ${left}`);
      });
    };
  },
};

export const BARRED_QUEUE: AlarmCase = {
  sections: ['trigger-send-failed', 'trigger-unsent'],
  fault: 'tail-shards may not send to a queue',
  fix: 'deploy again',
  withinMinutes: 20,
  async breaks(world) {
    await world.stack.setRights(withoutSending(world.stack.rights, queueOf(world, 'barred')));
    await putCells(world, 'BARRED', 1);
    return () => world.deploy('on');
  },
};

const SEND = 'sqs:SendMessage';

function withoutSending(rights: RightsByKey, queueUrl: string): RightsByKey {
  const name = queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
  const divided = (statement: WrittenStatement): readonly WrittenStatement[] => {
    const actions = [statement.Action].flat();
    if (!actions.includes(SEND)) return [statement];
    const others = [statement.Resource].flat().filter((resource) => !String(resource).endsWith(`:${name}`));
    return [
      { ...statement, Action: actions.filter((action) => action !== SEND) },
      { ...statement, Action: SEND, Resource: others },
    ].filter(({ Action, Resource }) => [Action].flat().length > 0 && [Resource].flat().length > 0);
  };
  return Object.fromEntries(
    Object.entries(rights).map(([key, { statements, ...role }]) => [
      key,
      { ...role, statements: statements.flatMap(divided) },
    ]),
  );
}

function queueOf({ stack }: AlarmWorld, trigger: string): string {
  const found = stack.queues().find(({ name }) => name.includes(`queuework${trigger}queue`));
  if (!found) throw new Error(`wanted a queue of trigger ${trigger}`);
  return found.url;
}

async function withSqs<T>({ stack }: AlarmWorld, use: (client: SQSClient) => Promise<T>): Promise<T> {
  const client = new SQSClient({ endpoint: stack.services.sqs.url, ...awsLogin() });
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}
