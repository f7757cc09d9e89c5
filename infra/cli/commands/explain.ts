import type { Command } from 'commander';
import { parseRowKey } from '../../../shared/address.ts';
import { badUsage } from '../command-error.ts';
import { command } from '../cli.ts';
import { explainRow, tableOf } from '../explain-row.ts';
import { readConditions } from '../input/conditions.ts';
import type { Session } from '../session.ts';

export function explain(): Command {
  return command('explain')
    .description('says where a row lies (shard, group, database, tables), and the SQL to look at it by hand')
    .argument('<row-key>', 'a UUID; with --query the name of an index')
    .argument('[column...]', 'its name; with --query the conditions')
    .option('-q, --query', 'which shard, group and statement a query of an index is, with its plan')
    .examples(
      ['schemaless explain 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', 'a row, written or not'],
      ['schemaless explain 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE', 'one column of it'],
      ['schemaless explain --query rider_index rider_uuid=d3b07384-…', 'a query'],
    )
    .run<[what: string, more: readonly string[]], { readonly query?: true }>(
      async (session, [what, more], { query }) => {
        if (query === true) return explainQuery(session, what, more);
        const [column, ...others] = more;
        if (others.length > 0) throw badUsage('column', 'one at most', `${more.length}`);
        const row_key = parseRowKey(what);
        return session.output.record(await explainRow(await session.connect(), row_key, column));
      },
    );
}

async function explainQuery({ output, connect }: Session, index: string, texts: readonly string[]): Promise<void> {
  const client = await connect();
  const { explain: explained } = await client.query({ index, where: readConditions(texts), explain: true, limit: 1 });
  const { shard, group, statement, plan } = explained ?? { shard: null, group: null, statement: '', plan: null };
  await output.record({ index, shard, group, table: tableOf(statement), statement, plan });
}
