import { unlessFailed, type SqlError, type SqlClient, type Target } from '../sql/client.ts';
import { selectDivided } from '../sql/select-divided.ts';
import { bodyHashParts, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { type Shown, decideCopy, type CopyAction, type NodeWord } from './decide.ts';
import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { sameBody } from '../store/append-result.ts';
import type { OpenRow } from './open-rows.ts';

export interface ShardRows {
  readonly datastore: string;
  readonly shard: number;
  readonly rows: readonly WaitingRow[];
}

interface NodeAnswer {
  readonly target: Target;
  readonly writable: boolean;
  /** By row, shard after shard. */
  readonly shown: readonly Shown[];
  readonly refused: ReadonlyMap<number, SqlError>;
}

export interface NodeAnswers {
  /** The node that takes appends. */
  readonly writer: NodeAnswer;
  /** All nodes that could be promoted, with the writer; undefined if one could not be asked. */
  readonly nodes: readonly NodeAnswer[] | undefined;
}

/** Asks every node of a primary; the writer alone if storage is shared. Throws `SqlError` without the writer. */
export async function askNodes(client: SqlClient, shards: readonly ShardRows[]): Promise<NodeAnswers> {
  if (!client.abilities.survivesDiskLoss || client.nodes < 2) {
    const writer = await askNode(client, 'writer', shards);
    return { writer, nodes: [writer] };
  }
  const answers = await Promise.all(
    Array.from({ length: client.nodes }, (_, node) => askNode(client, { node }, shards).catch(unlessFailed)),
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
  // The first part says whether it takes writes.
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

/** Rows compared at once: their bodies, and the nodes', are in memory, each of up to a MiB. */
export const COMPARED_ROWS = 4;

/** Decides on at most `COMPARED_ROWS` rows of one shard by value. Throws `SqlError` without the writer. */
export async function compareRows(
  client: SqlClient,
  rows: readonly OpenRow[],
  { nodes }: NodeAnswers,
): Promise<readonly CopyAction[]> {
  const writer = await shownAt(client, 'writer', rows);
  const hasEqual = writer.includes('same');
  // A row that is there goes only once all nodes show it.
  const answers =
    hasEqual && nodes
      ? await Promise.all(
          nodes.map(async ({ target, writable }) => ({
            writable,
            shown: await shownAt(client, target, rows).catch(unlessFailed),
          })),
        )
      : [];
  return writer.map((shown, position) =>
    decideCopy(
      shown,
      answers.map((answer): NodeWord => ({ writable: answer.writable, shown: answer.shown?.[position] ?? 'silent' })),
    ),
  );
}

async function shownAt(client: SqlClient, target: Target, rows: readonly OpenRow[]): Promise<readonly Shown[]> {
  const [{ datastore } = { datastore: '' }] = rows;
  const keys = rows.map(({ row_key, column_name, ref_key, shard }) => ({
    key: { row_key, column_name, ref_key },
    shard,
  }));
  const found = byItem(await client.select(selectCells({ datastore }, keys, false), target), rows.length);
  return found.map(({ cells: [cell] }, position) => (cell ? shownAs(cell, rows[position] as OpenRow) : 'missing'));
}

function shownAs(cell: StoredCell, row: OpenRow): Shown {
  if (cell.body === null) return 'erased';
  return sameBody(cell, row) ? 'same' : 'contrary';
}
