import type { IndexStatus } from '../../../../shared/contract/index-status.ts';
import { link } from '../address.ts';
import { apiPath } from '../api.ts';
import { html } from '../html.ts';
import { POLL_MS, useLive } from '../live.ts';
import { Badge, CliLine, Freshness, Time } from '../parts.ts';
import { useCli, usePage } from '../session.ts';
import { table } from '../table.ts';
import { countText, visible } from '../text.ts';

type Mistyped = IndexStatus['mistyped'][number] & { readonly index: string };

export function IndexesScreen() {
  const { datastore } = usePage();
  const cli = useCli('verify-index');
  const live = useLive(
    async (ask) =>
      ((await ask(apiPath(datastore, ['indexes']))) as { readonly indexes: readonly IndexStatus[] }).indexes,
    datastore,
    POLL_MS,
  );
  const mistyped = (live.data ?? []).flatMap(({ index, mistyped: fields }) => fields.map((one) => ({ ...one, index })));
  return html`<h1>Indexes</h1>
    <${Freshness} live=${live} />
    ${live.data && html`${indexTable(datastore, live.data)}<h2>Fields of another type than defined</h2>${mistypedTable(datastore, mistyped)}`}
    <${CliLine} label="Compares all entries with all cells" line=${cli} />`;
}

function indexTable(datastore: string, indexes: readonly IndexStatus[]) {
  return table<IndexStatus>({
    label: 'Indexes',
    items: indexes,
    keyOf: ({ index }) => index,
    empty: 'The datastore has none.',
    columns: [
      {
        header: 'Index',
        value: ({ index }) => html`<a data-item href=${link(datastore, ['queries', index])}>${index}</a>`,
        width: '26ch',
      },
      {
        header: 'State',
        value: ({ state }) => html`<${Badge} tone=${state === 'live' ? 'good' : 'warn'}>${state}<//>`,
        width: '12ch',
      },
      { header: 'Build', value: ({ progress }) => buildOf(progress), width: '26ch' },
      { header: 'Repair is behind', value: ({ lag }) => countText(lag), width: '15ch', isNumber: true },
      {
        header: 'Largest share',
        value: ({ largest_share: share }) => (share === null ? '–' : `${(share * 100).toFixed(1)} %`),
        width: '13ch',
        isNumber: true,
      },
      {
        header: 'Fields',
        value: ({ fields }) =>
          fields.map(({ field, type, column_key }) => `${visible(column_key)}.${field} ${type}`).join(', '),
        width: '60ch',
        gives: true,
      },
    ],
  });
}

function buildOf(progress: IndexStatus['progress']) {
  if (progress === null) return '–';
  const { done, total } = progress;
  return html`<progress max=${Math.max(1, total)} value=${done} aria-label="how far the build is"></progress> ${total === 0 ? 100 : Math.floor((100 * done) / total)} %`;
}

function mistypedTable(datastore: string, fields: readonly Mistyped[]) {
  return table<Mistyped>({
    label: 'Fields of another type than defined',
    items: fields,
    keyOf: ({ index, field }) => `${index} ${field}`,
    empty: 'None: all that was looked at fits.',
    columns: [
      { header: 'Index', value: ({ index }) => index, width: '26ch' },
      { header: 'Field', value: ({ field }) => field, width: '24ch' },
      { header: 'Found', value: ({ rows }) => `${countText(rows)} times`, width: '14ch', isNumber: true },
      {
        header: 'Last in row',
        value: ({ row_key }) => html`<a href=${link(datastore, ['row', row_key])}>${row_key}</a>`,
        width: '38ch',
      },
      { header: 'At', value: ({ at }) => html`<${Time} at=${at} />`, width: '25ch' },
    ],
  });
}
