import { SchemalessError } from '../errors.ts';

export function firstOf<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new SchemalessError('internal', 'The answer lacks its item');
  return item;
}
