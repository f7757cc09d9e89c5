/** Words of an index's query string that no field may have as its name. */
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
