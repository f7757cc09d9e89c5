import { useState } from 'preact/hooks';
import type { Purge, RetainedColumn, Retention } from '../../../../shared/contract/retention-operations.ts';
import { apiPath, unlessDenied } from '../api.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, CliLine, Facts, Freshness, NotForYou, Time } from '../parts.ts';
import { useCli, usePage } from '../session.ts';
import { table } from '../table.ts';
import { bytesText, counted, countText, durationText, visible } from '../text.ts';

/** Each look reads the table of states from end to end; while tables are written anew somebody waits for it. */
const EVERY_MS = 30_000;
const PURGING_MS = 5000;

/** How long cells are kept, what was erased by that, and whether its space was given back. */
export function RetentionPart() {
  const { datastore } = usePage();
  const [everyMs, setEveryMs] = useState(EVERY_MS);
  const lines = { retention: useCli('retention'), purge: useCli('purge') };
  const live = useLive<{ readonly retention: Retention | undefined }>(
    async (ask) => {
      const retention = await unlessDenied<Retention>(ask(apiPath(datastore, ['retention'])));
      setEveryMs(retention?.purge?.state === 'purging' ? PURGING_MS : EVERY_MS);
      return { retention };
    },
    datastore,
    everyMs,
  );
  const retention = live.data?.retention;
  return html`<h2>How long cells are kept</h2>
    <${Freshness} live=${live} />
    ${live.data && !retention && html`<${NotForYou} policy="erasers" />`}
    ${retention && html`<${Facts} facts=${factsOf(retention)} />${ruleTable(retention)}`}
    <${CliLine} line=${lines.retention} />
    ${retention && html`<h2>The space of what was erased</h2>${purgeOf(retention.purge)}`}
    ${retention && html`<${CliLine} label="Gives it back, on the command line" line=${lines.purge} />`}`;
}

function factsOf({ rules, behind_seconds: behind, open, waits_for: why }: Retention) {
  return [
    ['Rules', rules.length === 0 ? 'none: cells are kept for good' : countText(rules.length)],
    ['Erasing is overdue', behind === null ? 'nobody has looked yet' : behind === 0 ? 'no' : durationText(behind)],
    ['Erasures not done everywhere', countText(open)],
    ['Waits for', why === null ? 'nothing' : visible(why)],
  ] as const;
}

interface Rule {
  readonly column: string;
  readonly keeps: string;
  readonly erased: RetainedColumn | undefined;
}

/** The rules, and columns that had one when something of them was erased. */
function ruleTable({ rules, columns }: Retention) {
  const ruled = new Set(rules.map(({ column }) => column));
  const items: readonly Rule[] = [
    ...rules.map((rule) => ({
      column: rule.column,
      keeps: [
        rule.keep_versions === undefined ? '' : counted(rule.keep_versions, 'version'),
        rule.keep_for_seconds === undefined ? '' : durationText(rule.keep_for_seconds),
      ]
        .filter((part) => part !== '')
        .join(', and '),
      erased: columns.find(({ column }) => column === rule.column),
    })),
    ...columns
      .filter(({ column }) => !ruled.has(column))
      .map((erased) => ({
        column: erased.column,
        keeps: ruled.has('*') ? 'as all others' : 'no rule any more',
        erased,
      })),
  ];
  const sum = (erased: RetainedColumn | undefined, of: 'cells' | 'bytes'): number =>
    (erased?.days ?? []).reduce((all, day) => all + day[of], 0);
  if (items.length === 0) return null;
  return table<Rule>({
    label: 'How long cells are kept',
    items,
    keyOf: ({ column }) => column,
    columns: [
      {
        header: 'Column',
        value: ({ column }) => (column === '*' ? 'all others' : visible(column)),
        width: '22ch',
      },
      { header: 'Keeps', value: ({ keeps }) => keeps, width: '26ch', gives: true },
      {
        header: 'Bodies erased',
        value: ({ erased }) => countText(sum(erased, 'cells')),
        width: '15ch',
        isNumber: true,
      },
      { header: 'Size', value: ({ erased }) => bytesText(sum(erased, 'bytes')), width: '12ch', isNumber: true },
      { header: 'Last', value: ({ erased }) => html`<${Time} at=${erased?.days.at(-1)?.to} />`, width: '24ch' },
    ],
  });
}

function purgeOf(purge: Purge | null) {
  if (!purge)
    return html`<p class="quiet">The tables were not written anew yet: the pages of what was erased are still theirs.</p>`;
  return html`<p role="status"><${Badge} tone=${purge.state === 'purged' ? 'good' : 'warn'}>${purge.state}<//>
      ${' '}<progress max=${Math.max(1, purge.of)} value=${purge.tables} aria-label="how many tables are written anew"></progress>
      ${' '}${countText(purge.tables)} of ${counted(purge.of, 'table')}</p>
    <${Facts} facts=${purgeFacts(purge)} />`;
}

function purgeFacts(purge: Purge) {
  return [
    ['Asked for', html`<${Time} at=${purge.requested_at} /> by ${visible(purge.requested_by)}`],
    ['Done', purge.purged_at === null ? 'not yet' : html`<${Time} at=${purge.purged_at} />`],
    ['Size of these tables', `${bytesText(purge.bytes_before)} before, ${bytesText(purge.bytes_after)} now`],
    ['Waits for', purge.waits_for === null ? 'nothing' : visible(purge.waits_for)],
  ] as const;
}
