import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ENVIRONMENT_VARIABLES } from '../../../shared/environment.ts';
import { readTailerCount, writeTailerCount } from '../../../shared/triggers/send/tailer-count.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { awsLogin } from '../login/aws-login.ts';
import type { FunctionDefinition } from '../lambda/function-definition.ts';
import type { ScheduleDefinition } from './resources/schedule.ts';
import type { RunningSchedules } from './run-schedules.ts';

/** The wish for a number of tailers, kept in the state table: those that run look at it themselves. */
export interface TailerWish {
  /** Undefined while nobody has said: then the template's number holds. */
  read(): Promise<number | undefined>;
  /** @throws SchemalessError `invalid_field` for a count out of its range, and what DynamoDB throws */
  write(count: number): Promise<void>;
}

export interface Tailers {
  /** How many there are to be; 0 where the template has none. */
  readonly count: number;
  /**
   * Wishes for so many, starts the schedules of those missing, and ends the schedules of those beyond. Throws as
   * `TailerWish.write`.
   */
  set(count: number): Promise<void>;
}

/**
 * The wish of a template that has tailers: functions whose schedules hand over a slot. Undefined where there are none.
 */
export function tailerWish(
  schedules: readonly ScheduleDefinition[],
  functions: readonly FunctionDefinition[],
  dynamodbUrl: string,
): TailerWish | undefined {
  const arn = schedules.find(({ slot }) => slot !== undefined)?.functionArn;
  const name = functions.find((definition) => definition.arn === arn)?.environment[ENVIRONMENT_VARIABLES.stateTable];
  if (name === undefined) return undefined;
  const withTable = async <T>(use: (table: DynamoTable) => Promise<T>): Promise<T> => {
    const client = new DynamoDBClient({
      endpoint: dynamodbUrl,
      ...awsLogin(),
      requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    });
    try {
      return await use({ client, table: name });
    } finally {
      client.destroy();
    }
  };
  return {
    read: () => withTable(readTailerCount),
    write: (count) => withTable((table) => writeTailerCount(table, count)),
  };
}

/** @param wishOf asked each time: the template may have come to have tailers */
export function tailersOf(schedules: RunningSchedules, wishOf: () => TailerWish | undefined): Tailers {
  return {
    get count() {
      return schedules.slots;
    },
    async set(count) {
      const wish = wishOf();
      if (!wish) throw new Error('tailers: wanted a datastore with triggers, without which nothing is tailed');
      await wish.write(count);
      schedules.setSlots(count);
    },
  };
}
