import type { Erasure, ErasureOperations, RetainedColumn, Retention } from '../../../../shared/api/erasures.ts';
import type { ForgottenSubject, SubjectOperations } from '../../../../shared/api/subjects.ts';
import { link, restate, useAddress } from '../address.ts';
import { unlessDenied, type Ask } from '../api.ts';
import { collected, pagesOf } from '../feed.ts';
import { html } from '../html.ts';
import { POLL_MS, useLive } from '../live.ts';
import { Badge, CliLine, Facts, Freshness, NotForYou, ShortKey, shownOf, Time } from '../parts.ts';
import { column, counts, table, times } from '../table.ts';
import { bytesText, counted, countText, durationText, positionOf, visible } from '../text.ts';

type ErasurePage = Awaited<ReturnType<ErasureOperations['listErasures']>>;
type ForgottenPage = Awaited<ReturnType<SubjectOperations['listForgotten']>>;
const MOST = 2000;

export function ErasuresScreen() {
  const { query, parts } = useAddress();
  const [id] = parts;
  const open = query.get('open') === 'true';
  const live = useLive((ask) => erasures(open, ask), POLL_MS, `${open}`);
  const selected = live.data?.find((one) => one.id === id);
  return html`<h1>Erasures</h1>
    <${Freshness} live=${live} />
    <div class="bar"><label><input type="checkbox" checked=${open} onChange=${() => restate({ open: open ? undefined : 'true' })} /> Show only unfinished erasures</label></div>
    ${selected && html`<${Receipt} erasure=${selected} />`}
    ${live.data && erasureTable(live.data, id)}
    ${live.data && live.data.length >= MOST && html`<p class="quiet">These are the first ${countText(MOST)}.</p>`}
    <${CliLine} words=${['erasures', ...(open ? ['--open'] : [])]} />
    <${RetentionPart} />
    <${Forgotten} />`;
}

async function erasures(open: boolean, ask: Ask): Promise<readonly Erasure[]> {
  const pages = pagesOf<ErasurePage>(ask, ['erasures'], { open: open || undefined, limit: 1000 });
  const found = await collected(pages, (page) => page.erasures, MOST);
  return found.toSorted((one, other) => (one.requested_at < other.requested_at ? 1 : -1));
}

function erasureTable(found: readonly Erasure[], id: string | undefined) {
  return table<Erasure>({
    label: 'Erasures, the last one first',
    items: found,
    keyOf: (one) => one.id,
    isChosen: (one) => one.id === id,
    empty: 'Nothing was erased.',
    columns: [
      column(
        'Requested',
        '14ch',
        (one) => html`<a data-item href=${link(['erasures', one.id])}><${Time} at=${one.requested_at} /></a>`,
      ),
      column('What', 'calc(var(--key) + 10ch)', targetOf),
      column('State', '11ch', ({ state }) => html`<${Badge} tone=${state === 'erased' ? 'good' : 'warn'}>${state}<//>`),
      counts('Bodies', '9ch', ({ cells }) => cells),
      column('By', '26ch', ({ requested_by: by }) => visible(by), { gives: true }),
      column('Reason', '40ch', ({ reason }) => visible(reason), { gives: true }),
    ],
  });
}

function targetOf({ scope, row_key, column_name, ref_key, up_to }: Erasure) {
  const which = ref_key === null ? (up_to === null ? '' : ` up to ${up_to}`) : ` ${ref_key}`;
  return html`${scope} <${ShortKey} text=${row_key} />${column_name === null ? '' : ` ${visible(column_name)}`}${which}`;
}

function Receipt({ erasure }: { readonly erasure: Erasure }) {
  const at = (time: string | null, isExact = false) =>
    time === null ? 'not yet' : html`<${Time} at=${time} isExact=${isExact} />`;
  const { cleaned } = erasure;
  return html`<section class="card" aria-label="Receipt">
    <h2>Receipt</h2>
    <${Facts}
      facts=${[
        ['Record', html`<code>${erasure.id}</code>`],
        ['What', html`<a href=${link(['row', erasure.row_key])}>${targetOf(erasure)}</a>`],
        ['Reason', visible(erasure.reason)],
        ['Requested', html`${at(erasure.requested_at, true)} by ${visible(erasure.requested_by)}`],
        [
          'Erased',
          html`${at(erasure.erased_at, true)}: ${counted(erasure.cells, 'body', 'bodies')}, ${bytesText(erasure.bytes)}`,
        ],
        ['Position', erasure.added_id === null ? 'none' : positionOf({ ...erasure, added_id: erasure.added_id })],
        ['Clean: bodies', at(cleaned.bodies)],
        ['Clean: index entries', at(cleaned.entries)],
        ['Clean: buffered copies', at(cleaned.copies)],
        ['Clean: parked cells', at(cleaned.parked)],
        ['Clean: all nodes', at(cleaned.nodes)],
        ['Waits for', erasure.waits_for === null ? 'nothing' : visible(erasure.waits_for)],
        ['Backups may hold it until', erasure.backups_until === null ? 'unknown' : at(erasure.backups_until)],
      ]}
    />
    <${CliLine} words=${['erasure', erasure.id]} />
  </section>`;
}

/** Each poll may read the whole table of keys. */
const FORGOTTEN_MS = 60_000;

/** Shows subjects whose keys are deleted, so that their sealed fields are unreadable everywhere. */
function Forgotten() {
  const live = useLive(async (ask) => {
    const pages = pagesOf<ForgottenPage>(ask, ['erasures', 'subjects'], { limit: 1000 });
    return { subjects: await unlessDenied(collected(pages, (page) => page.subjects, MOST)) };
  }, FORGOTTEN_MS);
  return html`<h2>Forgotten subjects</h2>
    ${shownOf(live, ({ subjects }) => (subjects ? subjectTable(subjects) : html`<${NotForYou} policy="erasers" />`))}
    <${CliLine} words=${['forgotten']} />`;
}

function subjectTable(subjects: readonly ForgottenSubject[]) {
  return html`${table<ForgottenSubject>({
    label: 'Forgotten subjects, the last one first',
    items: subjects.toSorted((one, other) => (one.forgotten_at < other.forgotten_at ? 1 : -1)),
    keyOf: (one) => one.subject_name,
    empty: 'No subject was forgotten.',
    columns: [
      times('Forgotten', (one) => one.forgotten_at),
      column('Its name in records', '32ch', (one) => html`<code>${one.subject_name}</code>`),
      column('Key', '14ch', (one) =>
        one.had_key
          ? html`<span title=${`Unreadable everywhere from ${one.unreadable_from}`}><${Badge} tone="good">gone<//></span>`
          : html`<span title="It never had sealed fields, or it was misspelt"><${Badge} tone="warn">never there<//></span>`,
      ),
      column('Key in backups', '16ch', (one) =>
        one.key_in_backups_until === null ? 'in none' : html`<${Time} at=${one.key_in_backups_until} />`,
      ),
      column('By', '24ch', (one) => visible(one.requested_by), { gives: true }),
      column('Reason', '40ch', (one) => visible(one.reason), { gives: true }),
    ],
  })}${subjects.length >= MOST && html`<p class="quiet">These are ${countText(subjects.length)} of them.</p>`}`;
}

/** Each poll reads the whole state table. */
const RETENTION_MS = 30_000;

function RetentionPart() {
  const live = useLive(async (ask) => ({ retention: await unlessDenied<Retention>(ask(['retention'])) }), RETENTION_MS);
  return html`<h2>How long cells are kept</h2>
    ${shownOf(live, ({ retention }) => (retention ? html`<${Facts} facts=${factsOf(retention)} />${ruleTable(retention)}` : html`<${NotForYou} policy="erasers" />`))}
    <${CliLine} words=${['retention']} />`;
}

function factsOf({ rules, behind_seconds: behind, open, waits_for: why }: Retention) {
  return [
    ['Rules', rules.length === 0 ? 'none: cells are kept permanently' : countText(rules.length)],
    ['Erasing is overdue', behind === null ? 'not checked yet' : behind === 0 ? 'no' : durationText(behind)],
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
      times('Last', ({ erased }) => erased?.days.at(-1)?.to),
    ],
  });
}
