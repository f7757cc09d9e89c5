import {
  ConditionalCheckFailedException,
  GetItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from './table.ts';

/** The right to do something alone for now. */
export interface Lease {
  readonly name: string;
  /**
   * Goes up with each holder: what a holder writes elsewhere is conditional on it, so that a paused one cannot harm.
   */
  readonly token: number;
}

/** What is known of a lease that another holds. */
export interface HeldLease {
  readonly token: number;
  /** Changes with every renewal. */
  readonly beat: number;
  /** When this beat was first seen, by the local clock. */
  readonly seenAt: number;
}

/** Rights that one of many has at a time, for as long as it says that it is alive. */
export interface Leases {
  /**
   * Takes a lease that is free or has expired, or that its holder gave up. Asks the holder to hand over otherwise.
   *
   * @returns undefined while another holds it: try again
   */
  take(name: string): Promise<Lease | undefined>;
  /**
   * Says that the holder is alive.
   *
   * @returns `held`; `wanted` when a successor asks for it, so that it should be released soon; `lost` when it was
   *   taken
   */
  renew(lease: Lease): Promise<'held' | 'wanted' | 'lost'>;
  /** Gives the lease up at once, so that a successor need not wait for it to expire. */
  release(lease: Lease): Promise<void>;
}

/**
 * Leases in DynamoDB, by conditional writes. Clocks of different machines are never compared: a lease has expired when
 * its beat has not changed for its whole duration of local time.
 *
 * @param owner unique to this run
 * @param durationMs how long a holder may be silent
 */
export function leases(
  { client, table }: DynamoTable,
  owner: string,
  durationMs: number,
  now: () => number = () => performance.now(),
): Leases {
  const seen = new Map<string, HeldLease>();

  /** Writes the item if it is still as it was seen, and gives what it is now; undefined if it was not. */
  async function write(
    name: string,
    update: { readonly set: string; readonly condition: string; readonly values: Record<string, number | string> },
  ): Promise<LeaseItem | undefined> {
    try {
      const { Attributes } = await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { pk: { S: `lease#${name}` } },
          UpdateExpression: update.set,
          ConditionExpression: update.condition,
          ExpressionAttributeNames: namesIn(`${update.set} ${update.condition}`),
          ExpressionAttributeValues: Object.fromEntries(
            Object.entries(update.values).map(([key, value]) => [
              key,
              typeof value === 'number' ? { N: String(value) } : { S: value },
            ]),
          ),
          ReturnValues: 'ALL_NEW',
        }),
      );
      return toItem(Attributes);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  }

  async function read(name: string): Promise<LeaseItem | undefined> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: { pk: { S: `lease#${name}` } }, ConsistentRead: true }),
    );
    return Item && toItem(Item);
  }

  return {
    async take(name: string): Promise<Lease | undefined> {
      const item = await read(name);
      if (!item) {
        const first = await write(name, {
          set: 'SET #owner = :me, #token = :one, #beat = :zero',
          condition: 'attribute_not_exists(#owner) AND attribute_not_exists(#token)',
          values: { ':me': owner, ':one': 1, ':zero': 0 },
        });
        return first ? { name, token: 1 } : undefined;
      }
      const known = seen.get(name);
      const silent = known && known.token === item.token && known.beat === item.beat;
      if (!silent) seen.set(name, { token: item.token, beat: item.beat, seenAt: now() });
      const expired = silent && now() - known.seenAt >= durationMs;
      if (item.owner !== '' && !expired) {
        if (item.heir !== owner) {
          await write(name, {
            set: 'SET #heir = :me',
            condition: '#token = :token AND #owner <> :me',
            values: { ':me': owner, ':token': item.token },
          });
        }
        return undefined;
      }
      const token = item.token + 1;
      const taken = await write(name, {
        set: 'SET #owner = :me, #token = :next, #beat = :zero REMOVE #heir',
        condition: '#token = :token AND #owner = :holder AND #beat = :beat',
        values: {
          ':me': owner,
          ':next': token,
          ':zero': 0,
          ':token': item.token,
          ':holder': item.owner,
          ':beat': item.beat,
        },
      });
      return taken ? { name, token } : undefined;
    },

    async renew(lease: Lease): Promise<'held' | 'wanted' | 'lost'> {
      const held = await write(lease.name, {
        set: 'SET #beat = #beat + :one',
        condition: '#owner = :me AND #token = :token',
        values: { ':me': owner, ':token': lease.token, ':one': 1 },
      });
      if (!held) return 'lost';
      return held.heir !== '' && held.heir !== owner ? 'wanted' : 'held';
    },

    async release(lease: Lease): Promise<void> {
      await write(lease.name, {
        set: 'SET #owner = :nobody, #beat = #beat + :one',
        condition: '#owner = :me AND #token = :token',
        values: { ':nobody': '', ':one': 1, ':me': owner, ':token': lease.token },
      });
    },
  };
}

/** A lease as the table has it; nobody and nothing are empty. */
interface LeaseItem {
  readonly owner: string;
  readonly token: number;
  readonly beat: number;
  readonly heir: string;
}

function toItem(item: Record<string, AttributeValue> = {}): LeaseItem {
  return {
    owner: item['owner']?.S ?? '',
    token: Number(item['token']?.N ?? 0),
    beat: Number(item['beat']?.N ?? 0),
    heir: item['heir']?.S ?? '',
  };
}

/** DynamoDB refuses names that an expression does not use. */
function namesIn(expression: string): Record<string, string> {
  return Object.fromEntries([...expression.matchAll(/#(\w+)/g)].map(([placeholder, name = '']) => [placeholder, name]));
}
