import type { StoreContext } from '../access/context.ts';
import { sharesStorage } from '../access/groups.ts';
import type { SqlClient, Target } from '../sql/client.ts';

/** The nodes that may become a group's writer; where storage is shared, one is all. */
export async function nodesOf(context: StoreContext, group: string, client: SqlClient): Promise<readonly Target[]> {
  if ((await sharesStorage(context.topology, group)) || !client.abilities.survivesDiskLoss) return ['writer'];
  return Array.from({ length: client.nodes }, (_, node) => ({ node }));
}

/** Where copies of writes are kept, and the nodes have files of their own, one server at a time takes appends. */
export async function isBound(context: StoreContext, group: string): Promise<boolean> {
  return context.bufferCopies > 0 && !(await sharesStorage(context.topology, group));
}
