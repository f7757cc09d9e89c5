import { SqlError, type SqlClient, type Target } from '../sql/client.ts';
import { selectDivided } from '../sql/select-divided.ts';
import { bodyHashParts, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import type { Shown } from './decide.ts';

export interface ShardRows {
  readonly datastore: string;
  readonly shard: number;
  readonly rows: readonly WaitingRow[];
}

/** What one node shows of some rows. */
interface NodeAnswer {
  readonly target: Target;
  readonly writable: boolean;
  /** By row, of all shards in their order. */
  readonly shown: readonly Shown[];
  /** By position of the shard: why the node cannot be asked about it. */
  readonly refused: ReadonlyMap<number, SqlError>;
}

/** What a primary's nodes show of some rows. */
export interface NodeAnswers {
  /** The node that appends go to. */
  readonly writer: NodeAnswer;
  /** All that could be promoted, the writer among them; undefined where one could not be asked at all. */
  readonly nodes: readonly NodeAnswer[] | undefined;
}

/**
 * Asks every node of a primary, side by side, with a statement each. A shard that a node refuses to be asked about is
 * silent there, and takes nothing from the others.
 *
 * Where the nodes share their storage, a promoted one shows what the writer shows, and where there are no readers there
 * is none to promote: the writer alone is asked.
 *
 * @throws SqlError where the writer could not be asked
 */
export async function askNodes(client: SqlClient, shards: readonly ShardRows[]): Promise<NodeAnswers> {
  if (!client.abilities.survivesDiskLoss || client.nodes < 2) {
    const writer = await askNode(client, 'writer', shards);
    return { writer, nodes: [writer] };
  }
  const answers = await Promise.all(
    Array.from({ length: client.nodes }, (_, node) => askNode(client, { node }, shards).catch(unlessSilent)),
  );
  const nodes = answers.filter((answer) => answer !== undefined);
  const [writer, ...others] = nodes.filter(({ writable }) => writable);
  return {
    writer: writer && others.length === 0 ? writer : await askNode(client, 'writer', shards),
    nodes: nodes.length === answers.length ? nodes : undefined,
  };
}

async function askNode(client: SqlClient, target: Target, shards: readonly ShardRows[]): Promise<NodeAnswer> {
  const asked = shards.map(({ rows }) => rows);
  const [role, ...lists] = bodyHashParts(asked);
  if (!role) throw new Error('asked a node nothing');
  const { rows: answered, refused } = await selectDivided(client, [role, ...lists], target);
  const { writer, hashes } = toBodyHashes(answered, asked);
  // What says whether it takes writes is the first part.
  const withoutRole = new Map([...refused].map(([part, error]) => [part - 1, error]));
  return {
    target,
    writable: writer !== undefined,
    refused: withoutRole,
    shown: asked.flatMap((rows, position) =>
      rows.map(({ body_hash }, item): Shown =>
        withoutRole.has(position) ? 'silent' : byHash(hashes[position]?.[item], body_hash),
      ),
    ),
  };
}

function byHash(hash: Uint8Array | null | undefined, wanted: Uint8Array): Shown {
  if (hash === undefined) return 'missing';
  return hash !== null && Buffer.compare(hash, wanted) === 0 ? 'same' : 'unlike';
}

export function unlessSilent(error: unknown): undefined {
  if (error instanceof SqlError) return undefined;
  throw error;
}
