import { PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';

/** How the topology is read: an item, or all of them. */
export const READ_TOPOLOGY = ['dynamodb:GetItem', 'dynamodb:Scan'];

/** How it is written: conditional writes of single items. */
export const WRITE_TOPOLOGY = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

/** How items of the state are read and written. */
export const STATE_ITEMS = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

/** All that any part of a store does with its tables. */
export const TABLE_ACTIONS = [...new Set([...READ_TOPOLOGY, ...WRITE_TOPOLOGY, ...STATE_ITEMS])];

/**
 * Lets somebody do this with items of a table whose keys are like these, and with no others.
 *
 * @param actions of single items: what reads a whole table has no keys, and would be let through
 * @param keys `*` stands for any text
 */
export function grantItems(
  grantee: IGrantable,
  table: Pick<ITable, 'tableArn'>,
  actions: readonly string[],
  keys: readonly string[],
): void {
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      actions: [...actions],
      resources: [table.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } },
    }),
  );
}
