/**
 * What the query string of an index calls other things than fields: no field goes by these names. `row_key` is what
 * its entries call the row.
 */
export const QUERY_WORDS: readonly string[] = [
  'limit',
  'after',
  'fields',
  'column',
  'order',
  'read',
  'explain',
  'row_key',
];
