import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Role } from '../cell.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { OPENINGS_KEY } from '../granted-names.ts';

/**
 * How often whoever asks for anything looks at the item: as long as one that hangs may hold a request that nobody
 * warned.
 */
const LOOK_EVERY_MS = 2000;
/**
 * How old an opening may be that is news. An instance that had nothing to do, or was frozen, looks again long after an
 * outage is over. Clocks may differ; one too many costs one sign of life.
 */
const NEWS_MS = 5000;
/** Nobody waits for the item, but a socket should not hang on it. */
const TIMEOUT_MS = 1000;

/** The name under which shards that were moved are told: of no group, since those of groups have a role. */
const MOVED = 'topology';

/**
 * How instances of functions learn that another one found a group's role down, or that a shard was moved. Best effort: a
 * table that is away tells nobody.
 */
export interface OpenCircuits {
  /** Tells the others that a shard is elsewhere, or has a copy. Returns at once. */
  tellMoved(): void;
  /** Tells the others. Returns at once. */
  tell(group: string, role: Role): void;
  /** Looks, unless that was done a moment ago, and calls back for each opening that is news. Returns at once. */
  look(onNews: (group: string, role: Role) => void, onMoved: () => void): void;
}

/** Its item has an attribute for each circuit that ever opened, with the time of the last opening in ms. */
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
    // One's own is no news.
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
