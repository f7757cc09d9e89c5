/** A process with little memory that does one thing with the buffers of a store, and says what came of it. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { drainPass } from '../../../support/drain-pass.ts';
import { withoutBreakers } from '../../../support/without-breakers.ts';
import { recoverPrimary } from '../../../../shared/drain/recover-primary.ts';
import { mysqlClient } from '../../../../shared/sql/mysql-client.ts';
import { bufferOperations } from '../../../../shared/store/buffer-operations.ts';
import { openContext } from '../../../../shared/access/context.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import type { Servers } from '../../../support/servers.ts';

export interface SmallHeapWork {
  readonly work: 'drain' | 'recover' | 'list conflicts';
  readonly servers: Pick<Servers, 'groups' | 'dynamo'>;
  readonly table: string;
  readonly group: string;
  readonly datastore: string;
}

const { work, servers, table, group, datastore } = JSON.parse(process.argv[2] ?? '') as SmallHeapWork;
const context = openContext({
  topology: dynamoTopology({
    client: new DynamoDBClient({
      endpoint: servers.dynamo,
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    }),
    table,
  }),
  connect: (address) => {
    const { user, password } = servers.groups.find(({ name }) => name === address.name) ?? { user: '', password: '' };
    return mysqlClient(address, async () => ({ username: user, password }));
  },
  bufferCopies: 1,
  guard: withoutBreakers,
});
if (work === 'drain')
  console.log(
    (await drainPass(context, group, () => true, { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000 })).appended,
  );
else if (work === 'recover') console.log(JSON.stringify(await recoverPrimary(context, group)));
else {
  let [after, count]: [string | undefined, number] = [undefined, 0];
  do {
    const page: Awaited<ReturnType<ReturnType<typeof bufferOperations>['bufferConflicts']>> = await bufferOperations(
      context,
      datastore,
    ).bufferConflicts({ limit: 100, after });
    count += page.conflicts.length;
    after = page.next ?? undefined;
  } while (after !== undefined);
  console.log(count);
}
await context.groups.close();
process.exit(0);
