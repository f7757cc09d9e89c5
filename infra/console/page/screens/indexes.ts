import type { IndexStatus } from '../../../../shared/api/indexes.ts';
import { link } from '../address.ts';
import { html } from '../html.ts';
import { POLL_MS, useAnswer } from '../live.ts';
import { Badge, CliLine, shownOf } from '../parts.ts';
import { column, counts, links, rowKeys, table, times } from '../table.ts';
import { countText, visible } from '../text.ts';

type Mistyped = IndexStatus['mistyped'][number] & { readonly index: string };

export function IndexesScreen() {
  const live = useAnswer<{ readonly indexes: readonly IndexStatus[] }>(['indexes'], POLL_MS);
  return html`<h1>Indexes</h1>
    ${shownOf(live, ({ indexes }) => html`${indexTable(indexes)}<h2>Fields of another type than defined</h2>${mistypedTable(indexes)}`)}
    <${CliLine} label="Compares all entries with all cells" words=${['verify-index']} />`;
}

function indexTable(indexes: readonly IndexStatus[]) {
  return table<IndexStatus>({
    label: 'Indexes',
    items: indexes,
    keyOf: ({ index }) => index,
    empty: 'The datastore has none.',
    columns: [
      links('Index', '26ch', ({ index }) => [index, link(['queries', index])]),
      column('State', '12ch', ({ state }) => html`<${Badge} tone=${state === 'live' ? 'good' : 'warn'}>${state}<//>`),
      column('Build', '20ch', ({ progress }) => buildOf(progress)),
      counts('Repair lag', '12ch', ({ lag }) => lag),
      column(
        'Largest shard',
        '14ch',
        ({ largest_share: share }) => (share === null ? '–' : `${(share * 100).toFixed(1)} %`),
        { isNumber: true },
      ),
      column(
        'Fields',
        '60ch',
        ({ fields }) =>
          fields.map(({ field, type, column_key }) => `${visible(column_key)}.${field} ${type}`).join(', '),
        { gives: true },
      ),
    ],
  });
}

function buildOf(progress: IndexStatus['progress']) {
  if (progress === null) return '–';
  const { done, total } = progress;
  return html`<progress max=${Math.max(1, total)} value=${done} aria-label="how far the build is"></progress> ${total === 0 ? 100 : Math.floor((100 * done) / total)} %`;
}

function mistypedTable(indexes: readonly IndexStatus[]) {
  return table<Mistyped>({
    label: 'Fields of another type than defined',
    items: indexes.flatMap(({ index, mistyped }) => mistyped.map((one) => ({ ...one, index }))),
    keyOf: ({ index, field }) => `${index} ${field}`,
    empty: 'None: all checked fields have their type.',
    columns: [
      column('Index', '26ch', ({ index }) => index),
      column('Field', '24ch', ({ field }) => field),
      column('Found', '14ch', ({ rows }) => `${countText(rows)} times`, { isNumber: true }),
      rowKeys('Last in row'),
      times('At', ({ at }) => at),
    ],
  });
}
