import type { Hold, HoldPage } from '../../../../shared/contract/retention-operations.ts';
import { link } from '../address.ts';
import { apiPath, unlessDenied } from '../api.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { CliLine, Freshness, NotForYou, Time } from '../parts.ts';
import { useCli, usePage } from '../session.ts';
import { table } from '../table.ts';
import { countText, visible } from '../text.ts';
import { pagesOf } from './pages-of.ts';

const MOST = 2000;
/** Changed by people: seldom. */
const EVERY_MS = 30_000;

/** What is held back from every erasure, as for a court. */
export function Holds() {
  const { datastore } = usePage();
  const cli = useCli('holds');
  const live = useLive<{ readonly holds: readonly Hold[] | undefined }>(
    async (ask) => ({
      holds: await unlessDenied(
        pagesOf(MOST, async (after) => {
          const page = (await ask(apiPath(datastore, ['holds'], { limit: 1000, after }))) as HoldPage;
          return { items: page.holds, next: page.next };
        }),
      ),
    }),
    datastore,
    EVERY_MS,
  );
  const holds = live.data?.holds;
  return html`<h2>Held back from erasure</h2>
    <${Freshness} live=${live} />
    ${live.data && !holds && html`<${NotForYou} policy="erasers" />`}
    ${holds && holdTable(datastore, holds)}
    ${holds && holds.length >= MOST && html`<p class="quiet">Those are the first ${countText(MOST)}.</p>`}
    <${CliLine} line=${cli} />`;
}

function holdTable(datastore: string, holds: readonly Hold[]) {
  return table<Hold>({
    label: 'Held back from erasure',
    items: holds,
    keyOf: ({ hold, row_key: row, subject }) => JSON.stringify([hold, row, subject]),
    empty: 'Nothing is held.',
    columns: [
      { header: 'Hold', value: ({ hold }) => hold, width: '18ch' },
      {
        header: 'What',
        value: ({ row_key: row, subject }) =>
          row === null
            ? `subject ${visible(subject ?? '')}`
            : html`row <a data-item href=${link(datastore, ['row', row])}>${row}</a>`,
        width: '42ch',
      },
      { header: 'Since', value: ({ requested_at: at }) => html`<${Time} at=${at} />`, width: '24ch' },
      { header: 'By', value: ({ requested_by: by }) => visible(by), width: '18ch' },
      { header: 'Reason', value: ({ reason }) => visible(reason), width: '30ch', gives: true },
    ],
  });
}
