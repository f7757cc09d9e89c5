import type { RetainedColumn, Retention } from '../../../../shared/api/erasures.ts';
import { apiPath, unlessDenied } from '../api.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { CliLine, Facts, Freshness, NotForYou } from '../parts.ts';
import { useCli, usePage } from '../session.ts';
import { column, counts, times, table } from '../table.ts';
import { bytesText, counted, countText, durationText, visible } from '../text.ts';

/** Each poll reads the whole state table. */
const EVERY_MS = 30_000;

export function RetentionPart() {
  const { datastore } = usePage();
  const cli = useCli('retention');
  const live = useLive<{ readonly retention: Retention | undefined }>(
    async (ask) => ({ retention: await unlessDenied<Retention>(ask(apiPath(datastore, ['retention']))) }),
    datastore,
    EVERY_MS,
  );
  const retention = live.data?.retention;
  return html`<h2>How long cells are kept</h2>
    <${Freshness} live=${live} />
    ${live.data && !retention && html`<${NotForYou} policy="erasers" />`}
    ${retention && html`<${Facts} facts=${factsOf(retention)} />${ruleTable(retention)}`}
    <${CliLine} line=${cli} />`;
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
      column('Column', '22ch', ({ column }) => (column === '*' ? 'all others' : visible(column))),
      column('Keeps', '26ch', ({ keeps }) => keeps, { gives: true }),
      counts('Bodies erased', '15ch', ({ erased }) => sum(erased, 'cells')),
      column('Size', '12ch', ({ erased }) => bytesText(sum(erased, 'bytes')), { isNumber: true }),
      times('Last', '24ch', ({ erased }) => erased?.days.at(-1)?.to),
    ],
  });
}
