import { ENVIRONMENT_VARIABLES } from '../../../shared/environment.ts';
import { readTailerCount, writeTailerCount } from '../../../shared/triggers/send/tailer-count.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { dynamoClient } from '../login/clients.ts';
import type { FunctionDefinition } from '../lambda/function-definition.ts';
import type { ScheduleDefinition } from './resources/schedule.ts';
import type { RunningSchedules } from './run-schedules.ts';

/** The wanted number of tailers in the state table, which running tailers read. */
export type DesiredTailers = NonNullable<ReturnType<typeof desiredTailers>>;

/** Undefined if the template has no schedules with a slot. */
export function desiredTailers(
  schedules: readonly ScheduleDefinition[],
  functions: readonly FunctionDefinition[],
  dynamodbUrl: string,
) {
  const arn = schedules.find(({ slot }) => slot !== undefined)?.functionArn;
  const name = functions.find((definition) => definition.arn === arn)?.environment[ENVIRONMENT_VARIABLES.stateTable];
  if (name === undefined) return undefined;
  const withTable = async <T>(use: (table: DynamoTable) => Promise<T>): Promise<T> => {
    const requestHandler = { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true };
    using client = dynamoClient(dynamodbUrl, { requestHandler });
    return await use({ client, table: name });
  };
  return {
    /** Undefined: the template's number applies. */
    read: () => withTable(readTailerCount),
    /** Throws SchemalessError `invalid_field` for a count out of range, and what DynamoDB throws. */
    write: (count: number) => withTable((table) => writeTailerCount(table, count)),
  };
}

export type Tailers = ReturnType<typeof tailersOf>;

/** `desiredOf` is called each time: a later template may have tailers. */
export function tailersOf(schedules: RunningSchedules, desiredOf: () => DesiredTailers | undefined) {
  return {
    /** 0 if the template has none. */
    get count() {
      return schedules.slots;
    },
    /** Stores the count, and starts or ends schedules. Throws as `DesiredTailers.write`. */
    async set(count: number) {
      const desired = desiredOf();
      if (!desired) throw new Error('tailers: wanted a datastore with triggers, without which nothing is tailed');
      await desired.write(count);
      schedules.setSlots(count);
    },
  };
}
