/** The screens, by the key that follows `g`. */
export const MENU = [
  ['h', 'health', 'Health'],
  ['t', 'triggers', 'Triggers'],
  ['l', 'logs', 'Logs'],
  ['r', 'row', 'Rows'],
  ['q', 'queries', 'Queries'],
  ['i', 'indexes', 'Indexes'],
  ['s', 'shards', 'Shards'],
  ['e', 'erasures', 'Erasures'],
] as const;
