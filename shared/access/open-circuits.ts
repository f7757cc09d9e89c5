import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Role } from '../cell.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { OPENINGS_KEY } from '../granted-names.ts';

/** Interval of looks at the item: as long as a hanging role may hold an unwarned request. */
const LOOK_EVERY_MS = 2000;
/** Older openings are no news: an instance may have been frozen. One too many costs one sign of life. */
const NEWS_MS = 5000;
const TIMEOUT_MS = 1000;

/** The name for moved shards, which no group's role has. */
const MOVED = 'topology';

/** Tells instances that another one found a role down, or that a shard was moved. Best effort. */
export interface OpenCircuits {
  /** Tells the others that a shard moved or has a copy. Returns at once. */
  tellMoved(): void;
  tell(group: string, role: Role): void;
  /** Looks if due, and calls back for each new opening. Returns at once. */
  look(onNews: (group: string, role: Role) => void, onMoved: () => void): void;
}

/** Keeps one item with an attribute for each circuit: the time of its last opening in ms. */
export function openCircuits({ client, table }: DynamoTable, now: () => number = Date.now): OpenCircuits {
  let lookedAt = Number.NEGATIVE_INFINITY;
  const seen = new Map<string, number>();

  async function news(): Promise<string[]> {
    const { Item: item = {} } = await client.send(
      new GetItemCommand({ TableName: table, Key: { pk: { S: OPENINGS_KEY } } }),
      { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
    );
    return Object.entries(item).flatMap(([name, { N: value = '' }]) => {
      const at = Number(value);
      if (name === 'pk' || seen.get(name) === at) return [];
      seen.set(name, at);
      return Math.abs(now() - at) > NEWS_MS ? [] : [name];
    });
  }

  function tellOf(name: string): void {
    const at = now();
    // An instance's own opening is no news.
    seen.set(name, at);
    client
      .send(
        new UpdateItemCommand({
          TableName: table,
          Key: { pk: { S: OPENINGS_KEY } },
          UpdateExpression: 'SET #name = :at',
          ExpressionAttributeNames: { '#name': name },
          ExpressionAttributeValues: { ':at': { N: String(at) } },
        }),
        { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
      )
      .catch(() => undefined);
  }

  return {
    tell: (group, role) => tellOf(`${group}/${role}`),
    tellMoved: () => tellOf(MOVED),
    look(onNews, onMoved) {
      if (Math.abs(now() - lookedAt) < LOOK_EVERY_MS) return;
      lookedAt = now();
      news().then(
        (names) => {
          if (names.includes(MOVED)) onMoved();
          for (const name of names) {
            const end = name.lastIndexOf('/');
            const role = name.slice(end + 1);
            if (role === 'writer' || role === 'reader') onNews(name.slice(0, end), role);
          }
        },
        () => undefined,
      );
    },
  };
}
