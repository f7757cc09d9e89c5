/**
 * A thread that drains all primaries of a group in one lane, in the order of their rows, with each run beginning at the
 * first row: a control. Everything else is the store's own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { appendPace } from '../../../shared/drain/append-pace.ts';
import { settlePrimary } from '../../../shared/drain/settle-primary.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { deleteBuffered } from '../../../shared/sql/statements/change-buffered.ts';
import { KEY_COLUMNS, toWaitingRow, type WaitingRow } from '../../../shared/sql/statements/select-buffered.ts';
import type { StoreContext } from '../../../shared/access/context.ts';
import { DATASTORE, openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

const RUN_MS = 60_000;
const PAGE_ROWS = 100;
/** The least rate of the store's own drain, for a backlog that came at 50 rows a second. */
const PER_SECOND = 100;
const CHECK_SHARE = 0.25;

await runAsWorker<StoreAccess, 'stop', never, undefined>(async (access, control) => {
  await using store = await openStore(access);
  control.ready();
  await Promise.all(
    access.groups.map(async ({ name }) => {
      while (control.stopped === undefined) {
        const end = performance.now() + RUN_MS;
        await drainInOrder(store.context, name, () => control.stopped === undefined && performance.now() < end);
        await sleep(100);
      }
    }),
  );
  return undefined;
});

async function drainInOrder(context: StoreContext, group: string, mayGoOn: () => boolean): Promise<void> {
  const hintHolder = await context.groups.client(group);
  const pace = appendPace(() => PER_SECOND);
  for (let after = 0; mayGoOn();) {
    const rows = await hintHolder
      .select(
        {
          sql: `SELECT ${KEY_COLUMNS} FROM \`schemaless\`.buffer WHERE state = 'waiting' AND id > ? ORDER BY id LIMIT ?`,
          parameters: [after, PAGE_ROWS],
        },
        'writer',
      )
      .then((found) => found.map(toWaitingRow))
      .catch(noneWhereUnavailable);
    after = rows.at(-1)?.id ?? after;
    const homes = (await context.topology.datastore(DATASTORE))?.homes ?? [];
    await Promise.all(
      [...Map.groupBy(rows, ({ shard }) => homes[shard]?.group ?? '')].map(async ([primary, ofPrimary]) => {
        const settled = await settlePrimary(
          context,
          { hintHolder, primary, pace },
          [...Map.groupBy(ofPrimary, byShard).values()].map((some) => ({
            datastore: DATASTORE,
            shard: some[0]?.shard ?? 0,
            rows: some,
          })),
        ).catch(undefinedWhereUnavailable);
        if (settled && settled.drained.length > 0)
          await hintHolder.change(deleteBuffered(settled.drained)).catch(undefinedWhereUnavailable);
      }),
    );
    if (rows.length < PAGE_ROWS) return;
    await pace.turn(rows.length * CHECK_SHARE);
  }
}

const byShard = ({ shard }: WaitingRow): number => shard;

function noneWhereUnavailable(error: unknown): WaitingRow[] {
  undefinedWhereUnavailable(error);
  return [];
}

function undefinedWhereUnavailable(error: unknown): undefined {
  if (!(error instanceof SqlError)) throw error;
  return undefined;
}
