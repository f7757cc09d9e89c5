import { PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';

export const READ_TOPOLOGY = ['dynamodb:GetItem', 'dynamodb:Scan'];

export const WRITE_TOPOLOGY = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

export const STATE_ITEMS = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

/** Every action of the store on its tables. */
export const TABLE_ACTIONS = [...new Set([...READ_TOPOLOGY, ...WRITE_TOPOLOGY, ...STATE_ITEMS])];

/**
 * Allows actions on items with these keys only. `actions`: of single items: reads of a whole table have no keys, and
 * would pass. `keys`: `*` stands for any text.
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
