/** How the topology and the state are read. */
export const READ_TABLE = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:Scan'];

/** How leases, offsets and the topology are written: conditional writes of single items, and transactions of them. */
export const WRITE_TABLE = [
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:ConditionCheckItem',
  'dynamodb:BatchWriteItem',
];
