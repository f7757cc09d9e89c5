import {
  ConditionalCheckFailedException,
  GetItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import type { VirtualTime } from '../world/virtual-time.ts';

type Item = Record<string, AttributeValue>;

/**
 * A DynamoDB table in memory, with what leases and the items next to them need: items by `pk`, simple conditions, SET
 * and REMOVE.
 */
export function memoryTable(time: Pick<VirtualTime, 'sleep'>): DynamoTable {
  const items = new Map<string, Item>();

  async function send(command: unknown): Promise<unknown> {
    await time.sleep(1);
    if (command instanceof GetItemCommand) {
      const item = items.get(command.input.Key?.['pk']?.S ?? '');
      return item ? { Item: { ...item } } : {};
    }
    if (!(command instanceof UpdateItemCommand)) throw new Error('the simulated table does not know this request');
    const {
      Key,
      UpdateExpression = '',
      ConditionExpression,
      ExpressionAttributeNames = {},
      ExpressionAttributeValues = {},
    } = command.input;
    const key = Key?.['pk']?.S ?? '';
    const item = items.get(key) ?? {};
    const terms: Terms = {
      item,
      name: (word) => ExpressionAttributeNames[word] ?? word,
      value: (word) => ExpressionAttributeValues[word],
    };
    if (
      ConditionExpression !== undefined &&
      !ConditionExpression.split(' OR ').some((all) => all.split(' AND ').every((condition) => isMet(condition, terms)))
    )
      throw new ConditionalCheckFailedException({ message: 'another item', $metadata: {} });
    const changed = { ...item, ...changesOf(UpdateExpression, terms) };
    for (const word of / REMOVE (.+)$/.exec(UpdateExpression)?.[1]?.split(', ') ?? []) delete changed[terms.name(word)];
    items.set(key, changed);
    return { Attributes: { ...changed } };
  }

  return { client: { send } as unknown as DynamoTable['client'], table: 'state' };
}

interface Terms {
  readonly item: Item;
  readonly name: (word: string) => string;
  readonly value: (word: string) => AttributeValue | undefined;
}

function isMet(condition: string, { item, name, value }: Terms): boolean {
  const [, absent] = /^attribute_not_exists\((#\w+)\)$/.exec(condition) ?? [];
  if (absent !== undefined) return !(name(absent) in item);
  const [, left, sign, right] = /^(#\w+) (=|<>|<=) (:\w+)$/.exec(condition) ?? [];
  if (left === undefined || right === undefined)
    throw new Error(`the simulated table does not understand: ${condition}`);
  if (sign === '<=') return name(left) in item && Number(item[name(left)]?.N) <= Number(value(right)?.N);
  const isEqual = textOf(item[name(left)]) === textOf(value(right));
  return sign === '=' ? isEqual : !isEqual;
}

function changesOf(expression: string, { item, name, value }: Terms): Item {
  const [, assignments] = /^SET (.+?)(?: REMOVE .+)?$/.exec(expression) ?? [];
  if (assignments === undefined) throw new Error(`the simulated table does not understand: ${expression}`);
  return Object.fromEntries(
    assignments.split(', ').map((assignment) => {
      const [, left, sum, right] = /^(#\w+) = (?:(#\w+) \+ )?(:\w+)$/.exec(assignment) ?? [];
      const to = value(right ?? '');
      if (left === undefined || !to) throw new Error(`the simulated table does not understand: ${assignment}`);
      return [name(left), sum === undefined ? to : { N: String(Number(item[name(sum)]?.N ?? 0) + Number(to.N)) }];
    }),
  );
}

function textOf(value: AttributeValue | undefined): string | undefined {
  return value?.S ?? value?.N;
}
