import { expect, inject, it } from 'vitest';
import { askParts } from '../../../shared/access/ask-parts.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';

it('a group without readers answers as its writer, also who asks for readers: its word is no stale one', async () => {
  const [group] = inject('servers').groups;
  if (!group) throw new Error('wanted a group');
  // As a cluster without readers has it: the endpoint of readers leads to the writer.
  const alone = { ...group, reader: group.writer, nodes: [group.writer] };
  const client = mysqlClient(alone, async () => ({ username: group.user, password: group.password }));
  try {
    const parts = [{ sql: 'SELECT 1', parameters: [] }];
    expect((await askParts(client, group.name, 'reader', parts)).roleOf(0)).toBe('writer');
  } finally {
    await client.close();
  }
});
