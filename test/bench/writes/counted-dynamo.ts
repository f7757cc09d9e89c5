import type { DynamoTable } from '../../../shared/dynamo/table.ts';

/** The calls of DynamoDB. */
export interface Asked {
  /** Calls for any table. */
  calls: number;
  /** Those for the topology's table. */
  ofTopology: number;
}

/** Counts all calls of a table's client from now on. @param topology its table is the topology's */
export function countCalls({ client, table: topology }: DynamoTable, asked: Asked): void {
  client.middlewareStack.add(
    (next) => (call) => {
      asked.calls += 1;
      if ((call.input as { readonly TableName?: string }).TableName === topology) asked.ofTopology += 1;
      return next(call);
    },
    { step: 'initialize', name: 'countCalls' },
  );
}
