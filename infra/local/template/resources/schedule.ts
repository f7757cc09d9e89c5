import { describeResource, ofType, type ResourceAddress } from '../template.ts';
import { physicalName, textProperty, type Context } from './resource-kind.ts';

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

export type ScheduleDefinition = ReturnType<typeof schedules>[number];

/** Returns the enabled schedules. Throws for one without a rate. */
export function schedules(resources: readonly ResourceAddress[], context: Context) {
  return ofType(resources, 'AWS::Scheduler::Schedule')
    .filter((address) => context.property(address, 'State') !== 'DISABLED')
    .map((address) => {
      const target = Object(context.property(address, 'Target'));
      const input = typeof target.Input === 'string' ? target.Input : undefined;
      return {
        name: physicalName(address),
        everyMs: rateOf(address, textProperty(context, address, 'ScheduleExpression')),
        functionArn: String(target.Arn),
        roleArn: String(target.RoleArn),
        /** JSON text; undefined without an input. */
        input,
        /** The slot in an input such as `{"slot": 2}`: one of several equal workers, whose number may change. */
        slot: input === undefined ? undefined : slotOf(input),
      };
    });
}

function rateOf(address: ResourceAddress, expression: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/u.exec(expression) ?? [];
  const unitMs = UNIT_MS[unit ?? ''];
  if (count === undefined || unitMs === undefined)
    throw new Error(`${describeResource(address)}: wanted a rate such as rate(1 minute), got ${expression}`);
  return Number(count) * unitMs;
}

function slotOf(input: string): number | undefined {
  const { slot, of } = Object(JSON.parse(input));
  return typeof slot === 'number' && of === undefined ? slot : undefined;
}
