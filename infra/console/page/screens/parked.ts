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
import { askerBeside, type Ask } from '../api.ts';
import { errorGroups, type ErrorGroup } from '../error-groups.ts';
import { pagesOf } from '../feed.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, CliLine, Freshness } from '../parts.ts';
import { usePage, type Action } from '../session.ts';
import { column, counts, links, table, times } from '../table.ts';
import { counted, countedAre, countText, visible } from '../text.ts';
import { actionsFor, placeOf } from './parked-action.ts';

/** As many as are listed; all are retried or discarded where `all` is said. */
const MOST_CELLS = 20_000;
const PAGE = 1000;
interface Parked {
  readonly cells: readonly ParkedCell[];
  readonly malformed: readonly MalformedMessage[];
  readonly isWhole: boolean;
  readonly summary: TriggerSummary;
}

export function ParkedScreen({ name }: { readonly name: string }) {
  const live = useLive((ask) => parkedCells(name, ask), 5000, name);
  const [group, setGroup] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const cells = live.data?.cells ?? [];
  const groups = useMemo(() => errorGroups(cells), [cells]);
  const inGroup = group === '' ? cells : (groups.find(({ text }) => text === group)?.cells ?? []);
  const picked = inGroup.filter((cell) => chosen.has(placeOf(cell)));
  const toggle = (cell: ParkedCell): void => {
    const next = new Set(chosen);
    if (!next.delete(placeOf(cell))) next.add(placeOf(cell));
    setChosen(next);
  };
  return html`<h1><a href=${link(['triggers'])}>Triggers</a> / <a href=${link(['triggers', name])}>${name}</a> / parked</h1>
    <${Freshness} live=${live} />
    ${
      live.data &&
      html`<p role="status">${headline(live.data)}</p>
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
      ? `It is stopped: nothing is sent until somebody resumes it.`
      : `At ${countText(most)} the trigger stops.`;
  const retried =
    every === null
      ? 'They are retried by hand alone.'
      : `They are retried by themselves every ${countText(every / 60)} min while it runs.`;
  return `${countedAre(parked, 'cell')} parked: the rest goes on without them.${listed} ${stops} ${retried}`;
}

async function parkedCells(name: string, ask: Ask): Promise<Parked> {
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
          html`<button type="button" class="link" data-item title=${text} onClick=${() => setGroup(text)}>${visible(text)}</button>`,
        { gives: true },
      ),
      times('Last', '24ch', ({ last }) => last),
      column('What to do', '36ch', ({ cells }) => actionsFor({ name, cells, label: 'these', onDone })),
    ],
  });
}

function cellTable(cells: readonly ParkedCell[], chosen: ReadonlySet<string>, toggle: (cell: ParkedCell) => void) {
  return table<ParkedCell>({
    label: 'Parked cells',
    items: cells,
    keyOf: placeOf,
    empty: 'None.',
    columns: [
      column(
        'Choose',
        '8ch',
        (cell) =>
          html`<input type="checkbox" aria-label=${`Choose ${placeOf(cell)}`} checked=${chosen.has(placeOf(cell))} onChange=${() => toggle(cell)} />`,
      ),
      column('Place', '12ch', (cell) => `${cell.shard}/${cell.added_id}`, { isNumber: true }),
      links('Row', '38ch', ({ row_key, column_name, added_id }) => [
        row_key,
        link(['row', row_key], { column: column_name, at: added_id }),
      ]),
      column('Error', '50ch', ({ last_error: error }) => html`<span title=${error}>${visible(error)}</span>`, {
        gives: true,
      }),
      column('Cell', '18ch', ({ column_name, ref_key }) => `${visible(column_name)}, ${ref_key}`),
      times('Parked', '24ch', ({ parked_at }) => parked_at),
      column(
        'Attempts',
        '20ch',
        ({ attempts, retry, round }) =>
          html`${attempts}${round > 0 ? `, again ${countText(round)}×` : ''} ${retry !== null && html`<${Badge} tone="plain">${retry}<//>`}`,
      ),
    ],
  });
}

function malformedTable(messages: readonly MalformedMessage[]) {
  return table<MalformedMessage>({
    label: 'Messages that could not be read',
    items: messages,
    keyOf: ({ message_id }) => message_id,
    columns: [
      column('Message', '38ch', ({ message_id }) => message_id),
      times('Came', '24ch', ({ parked_at }) => parked_at),
      column('Error', '70ch', ({ error }) => visible(error), { gives: true }),
    ],
  });
}

interface DeadMoved {
  readonly replayed?: number;
  readonly discarded?: number;
  readonly left: number;
}

/** What SQS gave up on: looked at only where somebody asks, since a look hides them for a moment. */
function Dead({ name, count }: { readonly name: string; readonly count: number }) {
  const { datastore } = usePage();
  const [messages, setMessages] = useState<readonly DeadMessageShown[]>();
  const path = ['triggers', name, 'dead'];
  const look = async (): Promise<void> =>
    setMessages((await askerBeside(datastore)<DeadPage>(path, { query: { limit: 1000 } })).messages);
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
          times('Sent', '24ch', ({ sent_at }) => sent_at),
          column('Cell', '16ch', ({ cell }) =>
            cell
              ? html`<a href=${link(['row', cell.row_key], { at: cell.added_id })}>${cell.shard}/${cell.added_id}</a>`
              : 'none of ours',
          ),
          column('Sent again since', '18ch', ({ resent }) => (resent ? 'yes' : 'no')),
        ],
      })
    }`;
}
