import { useMemo, useState } from 'preact/hooks';
import type {
  DeadMessageShown,
  DeadPage,
  MalformedMessage,
  ParkedCell,
  ParkedPage,
  TriggerSummary,
} from '../../../../shared/api/trigger-shapes.ts';
import { ActionButton } from '../actions.ts';
import { link } from '../address.ts';
import { askerFor, type Ask } from '../api.ts';
import { errorGroups, type ErrorGroup } from '../error-groups.ts';
import { pagesOf } from '../feed.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, CliLine, Freshness } from '../parts.ts';
import { usePage, type Action } from '../session.ts';
import { column, counts, rowKeys, table, times } from '../table.ts';
import { counted, countedAre, countText, positionOf, visible } from '../text.ts';
import { actionsFor } from './parked-action.ts';

/** The most cells that are listed; `all` also retries or discards the others. */
const MOST_CELLS = 20_000;
const PAGE = 1000;
type Parked = Awaited<ReturnType<typeof parkedCells>>;

export function ParkedScreen({ name }: { readonly name: string }) {
  const live = useLive((ask) => parkedCells(name, ask), 5000, name);
  const [group, setGroup] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const cells = live.data?.cells ?? [];
  const groups = useMemo(() => errorGroups(cells), [cells]);
  const inGroup = group === '' ? cells : (groups.find(({ text }) => text === group)?.cells ?? []);
  const picked = inGroup.filter((cell) => chosen.has(positionOf(cell)));
  const toggle = (cell: ParkedCell): void => {
    const next = new Set(chosen);
    if (!next.delete(positionOf(cell))) next.add(positionOf(cell));
    setChosen(next);
  };
  return html`<h1><a href=${link(['triggers'])}>Triggers</a> / <a href=${link(['triggers', name])}>${name}</a> / parked</h1>
    <${Freshness} live=${live} />
    ${
      live.data &&
      html`<p role="status">${live.data.summary.parked > 0 && html`<${Badge} tone="warn">parked<//> `}${headline(live.data)}</p>
      ${groups.length > 0 && html`<h2>What they failed on</h2>${groupTable(name, groups, group, setGroup, live.again)}`}
      <h2>Cells${group === '' ? '' : ' of the one chosen'}</h2>
      <div class="bar">
        ${actionsFor({ name, cells: picked, label: `${countText(picked.length)} chosen`, onDone: live.again })}
        ${group !== '' && html`<button type="button" onClick=${() => setGroup('')}>Show all errors</button>`}
        ${group === '' && live.data.summary.parked > 0 && actionsFor({ name, cells: 'all', label: `all ${countText(live.data.summary.parked)}`, count: live.data.summary.parked, onDone: live.again })}
      </div>
      ${cellTable(inGroup, chosen, toggle)}
      ${live.data.malformed.length > 0 && html`<h2>Messages that could not be read</h2>${malformedTable(live.data.malformed)}`}
      ${(live.data.summary.dead ?? 0) > 0 && html`<${Dead} name=${name} count=${live.data.summary.dead} />`}`
    }
    <${CliLine} words=${['parked', 'list', name]} />`;
}

function headline({ cells, isWhole, summary }: Parked): string {
  const { parked, stop_after_parked: most, state, retry_parked_every_seconds: every } = summary;
  if (parked === 0) return 'No cell is parked.';
  const listed = isWhole ? '' : ` The first ${countText(cells.length)} are listed.`;
  const stops =
    state === 'stopped'
      ? `It is stopped: nothing is sent until an operator resumes it.`
      : `At ${countText(most)} the trigger stops.`;
  const retried =
    every === null
      ? 'They are retried only by hand.'
      : `They are retried automatically every ${countText(every / 60)} min while it runs.`;
  return `${countedAre(parked, 'cell')} parked: other cells continue.${listed} ${stops} ${retried}`;
}

async function parkedCells(name: string, ask: Ask) {
  const cells: ParkedCell[] = [];
  const malformed: MalformedMessage[] = [];
  let isWhole = true;
  for await (const page of pagesOf<ParkedPage>(ask, ['triggers', name, 'parked'], { limit: PAGE })) {
    cells.push(...page.cells);
    malformed.push(...page.malformed);
    isWhole = page.next === null;
    if (cells.length >= MOST_CELLS) break;
  }
  const summary = await ask<TriggerSummary>(['triggers', name], { query: { limit: 1 } });
  return { cells, malformed, isWhole, summary };
}

function groupTable(
  name: string,
  groups: readonly ErrorGroup[],
  group: string,
  setGroup: (text: string) => void,
  onDone: () => void,
) {
  return table<ErrorGroup>({
    label: 'Errors, the most frequent first',
    items: groups,
    keyOf: ({ text }) => text,
    isChosen: ({ text }) => text === group,
    columns: [
      counts('Cells', '9ch', ({ cells }) => cells.length),
      column(
        'Error',
        '52ch',
        ({ text }) =>
          html`<button type="button" class="link" data-item onClick=${() => setGroup(text)}>${visible(text)}</button>`,
        { gives: true },
      ),
      times('Last', ({ last }) => last),
      column('What to do', '38ch', ({ cells }) => actionsFor({ name, cells, label: 'these', onDone })),
    ],
  });
}

function cellTable(cells: readonly ParkedCell[], chosen: ReadonlySet<string>, toggle: (cell: ParkedCell) => void) {
  return table<ParkedCell>({
    label: 'Parked cells',
    items: cells,
    keyOf: positionOf,
    empty: 'None.',
    columns: [
      column(
        'Choose',
        '8ch',
        (cell) =>
          html`<input type="checkbox" aria-label=${`Choose ${positionOf(cell)}`} checked=${chosen.has(positionOf(cell))} onChange=${() => toggle(cell)} />`,
      ),
      column('Position', '12ch', positionOf, { isNumber: true }),
      column('Error', '60ch', ({ last_error: error }) => visible(error), { gives: true }),
      rowKeys('Row', ({ column_name, added_id }) => ({ column: column_name, at: added_id })),
      column('Cell', '14ch', ({ column_name, ref_key }) =>
        column_name === '' ? 'erasure' : `${visible(column_name)}, ${ref_key}`,
      ),
      times('Parked', ({ parked_at }) => parked_at),
      column('Attempts', '16ch', ({ attempts, round, retry }) => attemptsText(attempts, round, retry)),
    ],
  });
}

function attemptsText(attempts: number, round: number, retry: ParkedCell['retry']): string {
  const retries = round === 0 ? '' : `, ${counted(round, 'retry', 'retries')}`;
  return `${counted(attempts, 'try', 'tries')}${retries}${retry === null ? '' : `, retry ${retry}`}`;
}

function malformedTable(messages: readonly MalformedMessage[]) {
  return table<MalformedMessage>({
    label: 'Messages that could not be read',
    items: messages,
    keyOf: ({ message_id }) => message_id,
    columns: [
      column('Message', '38ch', ({ message_id }) => message_id),
      times('Came', ({ parked_at }) => parked_at),
      column('Error', '70ch', ({ error }) => visible(error), { gives: true }),
    ],
  });
}

interface DeadMoved {
  readonly replayed?: number;
  readonly discarded?: number;
  readonly left: number;
}

/** Shows the dead-letter queue, only on a click, since a poll hides its messages for a moment. */
function Dead({ name, count }: { readonly name: string; readonly count: number }) {
  const { datastore } = usePage();
  const [messages, setMessages] = useState<readonly DeadMessageShown[]>();
  const path = ['triggers', name, 'dead'];
  const look = async (): Promise<void> =>
    setMessages((await askerFor(datastore)<DeadPage>(path, { query: { limit: 1000 } })).messages);
  const act = (verb: 'replay' | 'discard'): Action => ({
    title: verb === 'replay' ? 'Send them again' : 'Delete them',
    operation: verb === 'replay' ? 'replayDeadMessages' : 'discardDeadMessages',
    cli: ['parked', verb === 'replay' ? 'retry' : 'discard', name, '--dead'],
    ...(verb === 'discard' && { word: 'discard' }),
    foresee: async () => ({
      says:
        verb === 'replay'
          ? `The cells of about ${counted(count, 'message')} are parked and sent again soon, as replays.`
          : `About ${counted(count, 'message')} are deleted. The cells themselves stay where they are.`,
    }),
    act: async ({ ask }) => {
      const { replayed, discarded, left } = await ask<DeadMoved>([...path, verb], { body: {} });
      return `${counted(replayed ?? discarded ?? 0, 'message')}${left > 0 ? `; about ${countText(left)} are left: do it again` : ''}.`;
    },
  });
  return html`<h2>Given up by SQS: ${countText(count)}</h2>
    <div class="bar">
      <button type="button" onClick=${look}>Look at them</button>
      <${ActionButton} label="Send them again …" action=${act('replay')} />
      <${ActionButton} label="Delete them …" action=${act('discard')} />
    </div>
    ${
      messages &&
      table<DeadMessageShown>({
        label: 'Messages that SQS gave up on',
        items: messages,
        keyOf: ({ message_id }) => message_id,
        columns: [
          times('Sent', ({ sent_at }) => sent_at),
          column('Cell', '16ch', ({ cell }) =>
            cell
              ? html`<a href=${link(['row', cell.row_key], { at: cell.added_id })}>${positionOf(cell)}</a>`
              : 'of no trigger',
          ),
          column('Sent again since', '18ch', ({ resent }) => (resent ? 'yes' : 'no')),
        ],
      })
    }`;
}
