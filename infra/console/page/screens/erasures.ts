import type { Erasure, ErasureOperations } from '../../../../shared/api/erasures.ts';
import { link, restate, useAddress } from '../address.ts';
import { apiPath } from '../api.ts';
import type { Ask } from '../feed.ts';
import { html } from '../html.ts';
import { POLL_MS, useLive } from '../live.ts';
import { Badge, CliLine, Facts, Freshness, Time } from '../parts.ts';
import { useCli, usePage } from '../session.ts';
import { column, counts, table } from '../table.ts';
import { bytesText, counted, countText, visible } from '../text.ts';
import { Forgotten } from './forgotten.ts';
import { collected, pagesOf } from './pages-of.ts';
import { RetentionPart } from './retention.ts';

type ErasurePage = Awaited<ReturnType<ErasureOperations['listErasures']>>;

const MOST = 2000;

export function ErasuresScreen() {
  const { datastore } = usePage();
  const { query, parts } = useAddress();
  const [id] = parts;
  const open = query.get('open') === 'true';
  const cli = useCli('erasures', ...(open ? ['--open'] : []));
  const live = useLive((ask) => erasures(datastore, open, ask), `${datastore} ${open}`, POLL_MS);
  const looked = live.data?.find((one) => one.id === id);
  return html`<h1>Erasures</h1>
    <${Freshness} live=${live} />
    <div class="bar"><label><input type="checkbox" checked=${open} onChange=${() => restate({ open: open ? undefined : 'true' })} /> only those that are not done everywhere</label></div>
    ${looked && html`<${Receipt} erasure=${looked} />`}
    ${live.data && erasureTable(datastore, live.data, id)}
    ${live.data && live.data.length >= MOST && html`<p class="quiet">Those are the first ${countText(MOST)}.</p>`}
    <${CliLine} line=${cli} />
    <${RetentionPart} />
    <${Forgotten} />`;
}

async function erasures(datastore: string, open: boolean, ask: Ask): Promise<readonly Erasure[]> {
  const pages = pagesOf<ErasurePage>((after) =>
    ask(apiPath(datastore, ['erasures'], { open: open || undefined, limit: 1000, after })),
  );
  const found = await collected(pages, (page) => page.erasures, MOST);
  return found.toSorted((one, other) => (one.requested_at < other.requested_at ? 1 : -1));
}

function erasureTable(datastore: string, found: readonly Erasure[], id: string | undefined) {
  return table<Erasure>({
    label: 'Erasures, the last one first',
    items: found,
    keyOf: (one) => one.id,
    isChosen: (one) => one.id === id,
    empty: 'Nothing was erased.',
    columns: [
      column(
        'Asked for',
        '25ch',
        (one) =>
          html`<a data-item href=${link(datastore, ['erasures', one.id])}><${Time} at=${one.requested_at} /></a>`,
      ),
      column('What', '48ch', targetOf),
      column('State', '11ch', ({ state }) => html`<${Badge} tone=${state === 'erased' ? 'good' : 'warn'}>${state}<//>`),
      counts('Bodies', '9ch', ({ cells }) => cells),
      column('By', '26ch', ({ requested_by: by }) => visible(by), { gives: true }),
      column('Reason', '40ch', ({ reason }) => visible(reason), { gives: true }),
    ],
  });
}

function targetOf({ scope, row_key, column_name, ref_key, up_to }: Erasure): string {
  const which = ref_key === null ? (up_to === null ? '' : ` up to ${up_to}`) : ` ${ref_key}`;
  return `${scope} ${row_key}${column_name === null ? '' : ` ${visible(column_name)}`}${which}`;
}

function Receipt({ erasure }: { readonly erasure: Erasure }) {
  const { datastore } = usePage();
  const cli = useCli('erasure', erasure.id);
  const at = (time: string | null) => (time === null ? 'not yet' : html`<${Time} at=${time} />`);
  const { cleaned } = erasure;
  return html`<section class="card" aria-label="Receipt">
    <h2>Receipt</h2>
    <${Facts}
      facts=${[
        ['Record', html`<code>${erasure.id}</code>`],
        ['What', html`<a href=${link(datastore, ['row', erasure.row_key])}>${targetOf(erasure)}</a>`],
        ['Reason', visible(erasure.reason)],
        ['Asked for', html`${at(erasure.requested_at)} by ${visible(erasure.requested_by)}`],
        [
          'Erased',
          html`${at(erasure.erased_at)}: ${counted(erasure.cells, 'body', 'bodies')}, ${bytesText(erasure.bytes)}`,
        ],
        ['Place in the log', erasure.added_id === null ? 'none' : `${erasure.shard}/${erasure.added_id}`],
        ['Clean: bodies', at(cleaned.bodies)],
        ['Clean: index entries', at(cleaned.entries)],
        ['Clean: buffered copies', at(cleaned.copies)],
        ['Clean: parked cells', at(cleaned.parked)],
        ['Clean: all nodes', at(cleaned.nodes)],
        ['Waits for', erasure.waits_for === null ? 'nothing' : visible(erasure.waits_for)],
        [
          'Backups may hold it until',
          erasure.backups_until === null ? 'nobody knows' : html`<${Time} at=${erasure.backups_until} />`,
        ],
      ]}
    />
    <${CliLine} line=${cli} />
  </section>`;
}
