import { UpdateItemCommand, type DynamoDBClient, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../../shared/dynamo/table.ts';

type Send = (command: unknown, options: unknown) => Promise<unknown>;

/** Accepts every commit of offsets, even from a worker that lost the partition, or from before a rewind. */
export function withoutCommitFence(table: DynamoTable): DynamoTable {
  return rewriteCommits(table, () => undefined);
}

/** Accepts commits of offsets from before a rewind, but not from a worker that lost the partition. */
export function withoutGenerationFence(table: DynamoTable): DynamoTable {
  return rewriteCommits(table, () => '#token = :token');
}

/**
 * Returns a table on which workers commit offsets under another condition; all other requests pass unchanged.
 *
 * @param conditionOf returns the replacement of a condition; undefined for none
 */
function rewriteCommits(
  { client, table }: DynamoTable,
  conditionOf: (condition: string) => string | undefined,
): DynamoTable {
  const send: Send = (command, options) =>
    (client.send as Send).call(
      client,
      command instanceof UpdateItemCommand && isCommit(command.input)
        ? new UpdateItemCommand(rewrite(command.input, conditionOf))
        : command,
      options,
    );
  return { client: { send } as unknown as DynamoDBClient, table };
}

/** A rewind writes offsets as well, but without a token. */
function isCommit({ ConditionExpression = '', ExpressionAttributeValues = {} }: UpdateItemCommandInput): boolean {
  return ':offsets' in ExpressionAttributeValues && ConditionExpression.includes('#token = :token');
}

function rewrite(
  input: UpdateItemCommandInput,
  conditionOf: (condition: string) => string | undefined,
): UpdateItemCommandInput {
  const ConditionExpression = conditionOf(input.ConditionExpression ?? '');
  // DynamoDB refuses names and values that no expression uses.
  const used = new Set(`${input.UpdateExpression} ${ConditionExpression}`.match(/[#:]\w+/g));
  const onlyUsed = <T>(given: Record<string, T> = {}): Record<string, T> =>
    Object.fromEntries(Object.entries(given).filter(([name]) => used.has(name)));
  return {
    ...input,
    ConditionExpression,
    ExpressionAttributeNames: onlyUsed(input.ExpressionAttributeNames),
    ExpressionAttributeValues: onlyUsed(input.ExpressionAttributeValues),
  };
}
