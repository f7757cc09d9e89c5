import { useMemo, useState } from 'preact/hooks';
import type {
  DeadMessageShown,
  MalformedMessage,
  ParkedCell,
  ParkedPage,
  TriggerSummary,
} from '../../../../shared/contract/trigger-operations.ts';
import type { Action } from '../action.ts';
import { ActionButton } from '../actions.ts';
import { link } from '../address.ts';
import { apiPath, askBeside } from '../api.ts';
import type { Ask } from '../feed.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, CliLine, Freshness, Time } from '../parts.ts';
import { cliLine, useCli, usePage, type Page } from '../session.ts';
import { table } from '../table.ts';
import { counted, countedAre, countText, visible } from '../text.ts';
import { errorGroups, type ErrorGroup } from '../error-groups.ts';

/** As many as are listed; all are retried or discarded where `all` is said. */
const MOST_CELLS = 20_000;
const PAGE = 1000;
/** Of cells in a line of the command line. */
const MOST_NAMED = 100;
/** Of one request, so that one sees how far it is. */
const BATCH = 200;

interface Parked {
  readonly cells: readonly ParkedCell[];
  readonly malformed: readonly MalformedMessage[];
  readonly isWhole: boolean;
  readonly summary: TriggerSummary;
}

/** What a trigger failed too often, by what it failed on. */
export function ParkedScreen({ name }: { readonly name: string }) {
  const page = usePage();
  const { datastore } = page;
  const live = useLive<Parked>((ask) => parkedCells(datastore, name, ask), `${datastore} ${name}`, 5000);
  const [group, setGroup] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const cells = live.data?.cells ?? [];
  const groups = useMemo(() => errorGroups(cells), [cells]);
  const inGroup = group === '' ? cells : (groups.find(({ text }) => text === group)?.cells ?? []);
  const picked = inGroup.filter((cell) => chosen.has(placeOf(cell)));
  const cli = useCli('parked', 'list', name);
  const toggle = (cell: ParkedCell): void => {
    const next = new Set(chosen);
    if (!next.delete(placeOf(cell))) next.add(placeOf(cell));
    setChosen(next);
  };
  return html`<h1><a href=${link(datastore, ['triggers'])}>Triggers</a> / <a href=${link(datastore, ['triggers', name])}>${name}</a> / parked</h1>
    <${Freshness} live=${live} />
    ${
      live.data &&
      html`<p role="status">${headline(live.data)}</p>
      ${groups.length > 0 && html`<h2>What they failed on</h2>${groupTable(page, name, { groups, group, setGroup, onDone: live.again })}`}
      <h2>Cells${group === '' ? '' : ' of the one chosen'}</h2>
      <div class="bar">
        ${actionsFor({ page, name, cells: picked, label: `${countText(picked.length)} chosen`, onDone: live.again })}
        ${group !== '' && html`<button type="button" onClick=${() => setGroup('')}>Show all errors</button>`}
        ${group === '' && live.data.summary.parked > 0 && actionsFor({ page, name, cells: 'all', label: `all ${countText(live.data.summary.parked)}`, count: live.data.summary.parked, onDone: live.again })}
      </div>
      ${cellTable(datastore, inGroup, chosen, toggle)}
      ${live.data.malformed.length > 0 && html`<h2>Messages that could not be read</h2>${malformedTable(live.data.malformed)}`}
      ${(live.data.summary.dead ?? 0) > 0 && html`<${Dead} name=${name} count=${live.data.summary.dead} />`}`
    }
    <${CliLine} line=${cli} />`;
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

async function parkedCells(datastore: string, name: string, ask: Ask): Promise<Parked> {
  const cells: ParkedCell[] = [];
  const malformed: MalformedMessage[] = [];
  let after: string | undefined;
  do {
    const page = (await ask(apiPath(datastore, ['triggers', name, 'parked'], { limit: PAGE, after }))) as ParkedPage;
    cells.push(...page.cells);
    malformed.push(...page.malformed);
    after = page.next ?? undefined;
  } while (after !== undefined && cells.length < MOST_CELLS);
  const summary = (await ask(apiPath(datastore, ['triggers', name], { limit: 1 }))) as TriggerSummary;
  return { cells, malformed, isWhole: after === undefined, summary };
}

function placeOf({ shard, added_id }: Pick<ParkedCell, 'shard' | 'added_id'>): string {
  return `${shard}:${added_id}`;
}

interface Groups {
  readonly groups: readonly ErrorGroup[];
  readonly group: string;
  readonly setGroup: (text: string) => void;
  readonly onDone: () => void;
}

function groupTable(page: Page, name: string, { groups, group, setGroup, onDone }: Groups) {
  return table<ErrorGroup>({
    label: 'Errors, the most frequent first',
    items: groups,
    keyOf: ({ text }) => text,
    isChosen: ({ text }) => text === group,
    columns: [
      { header: 'Cells', value: ({ cells }) => countText(cells.length), width: '9ch', isNumber: true },
      {
        header: 'Error',
        value: ({ text }) =>
          html`<button type="button" class="link" data-item title=${text} onClick=${() => setGroup(text)}>${visible(text)}</button>`,
        width: '52ch',
        gives: true,
      },
      { header: 'Last', value: ({ last }) => html`<${Time} at=${last} />`, width: '24ch' },
      {
        header: 'What to do',
        value: ({ cells }) => actionsFor({ page, name, cells, label: 'these', onDone }),
        width: '36ch',
      },
    ],
  });
}

function cellTable(
  datastore: string,
  cells: readonly ParkedCell[],
  chosen: ReadonlySet<string>,
  toggle: (cell: ParkedCell) => void,
) {
  return table<ParkedCell>({
    label: 'Parked cells',
    items: cells,
    keyOf: placeOf,
    empty: 'None.',
    columns: [
      {
        header: 'Choose',
        value: (cell) =>
          html`<input type="checkbox" aria-label=${`Choose ${placeOf(cell)}`} checked=${chosen.has(placeOf(cell))} onChange=${() => toggle(cell)} />`,
        width: '8ch',
      },
      { header: 'Place', value: (cell) => `${cell.shard}/${cell.added_id}`, width: '12ch', isNumber: true },
      {
        header: 'Row',
        value: ({ row_key, column_name, added_id }) =>
          html`<a data-item href=${link(datastore, ['row', row_key], { column: column_name, at: added_id })}>${row_key}</a>`,
        width: '38ch',
      },
      {
        header: 'Error',
        value: ({ last_error: error }) => html`<span title=${error}>${visible(error)}</span>`,
        width: '50ch',
        gives: true,
      },
      {
        header: 'Cell',
        value: ({ column_name, ref_key }) => `${visible(column_name)}, ${ref_key}`,
        width: '18ch',
      },
      { header: 'Parked', value: ({ parked_at }) => html`<${Time} at=${parked_at} />`, width: '24ch' },
      {
        header: 'Attempts',
        value: ({ attempts, retry, round }) =>
          html`${attempts}${round > 0 ? `, again ${countText(round)}×` : ''} ${retry !== null && html`<${Badge} tone="plain">${retry}<//>`}`,
        width: '20ch',
      },
    ],
  });
}

function malformedTable(messages: readonly MalformedMessage[]) {
  return table<MalformedMessage>({
    label: 'Messages that could not be read',
    items: messages,
    keyOf: ({ message_id }) => message_id,
    columns: [
      { header: 'Message', value: ({ message_id }) => message_id, width: '38ch' },
      { header: 'Came', value: ({ parked_at }) => html`<${Time} at=${parked_at} />`, width: '24ch' },
      { header: 'Error', value: ({ error }) => visible(error), width: '70ch', gives: true },
    ],
  });
}

interface Chosen {
  readonly page: Page;
  readonly name: string;
  readonly cells: readonly ParkedCell[] | 'all';
  readonly label: string;
  /** Of `all`. */
  readonly count?: number;
  readonly onDone: () => void;
}

function actionsFor(chosen: Chosen) {
  if (chosen.cells.length === 0) return null;
  return html`<${ActionButton} label=${`Retry ${chosen.label} …`} action=${parkedAction(chosen, 'retry')} />
    <${ActionButton} label=${`Discard ${chosen.label} …`} action=${parkedAction(chosen, 'discard')} />`;
}

function parkedAction({ page, name, cells, count = cells.length, onDone }: Chosen, verb: 'retry' | 'discard'): Action {
  const isRetry = verb === 'retry';
  const path = apiPath(page.datastore, ['triggers', name, 'parked', verb]);
  const words =
    cells === 'all'
      ? ['--all']
      : cells.length > MOST_NAMED
        ? [...cells.slice(0, MOST_NAMED).map(placeOf), '…']
        : cells.map(placeOf);
  return {
    title: isRetry ? `Retry ${counted(count, 'cell')}` : `Discard ${counted(count, 'cell')}`,
    operation: isRetry ? 'retryParkedCells' : 'discardParkedCells',
    cli: cliLine(page, ['parked', verb, name, ...words]),
    ...(!isRetry && { word: 'discard' }),
    foresee: async (signal) => {
      const { state, parked, malformed } = (await askBeside(apiPath(page.datastore, ['triggers', name], { limit: 1 }), {
        signal,
      })) as TriggerSummary;
      const number = cells === 'all' ? parked : cells.length;
      return {
        nothing: number + (cells === 'all' ? malformed : 0) === 0,
        says: isRetry
          ? `${countedAre(number, 'cell')} sent to ${name} again, marked as replays; what fails again stays parked.${state === 'running' ? '' : ` The trigger is ${state}: they are sent once it is resumed.`}`
          : `${countedAre(number, 'cell')} forgotten for good: ${name} is not called for them any more.${cells === 'all' && malformed > 0 ? ` So are ${counted(malformed, 'message')} that could not be read.` : ''} The cells themselves stay where they are.`,
        ...(cells !== 'all' && {
          some: cells.slice(0, 10).map((cell) => `${placeOf(cell)}: ${visible(cell.last_error.slice(0, 100))}`),
        }),
      };
    },
    act: async ({ report, signal }) => {
      const send = async (choice: unknown): Promise<{ readonly done: number; readonly missing: number }> => {
        const answer = (await askBeside(path, { method: 'POST', body: { cells: choice }, signal })) as {
          wanted?: number;
          discarded?: number;
          not_parked: readonly unknown[];
        };
        return { done: answer.wanted ?? answer.discarded ?? 0, missing: answer.not_parked.length };
      };
      let [done, missing] = [0, 0];
      if (cells === 'all') ({ done, missing } = await send('*'));
      else
        for (let at = 0; at < cells.length; at += BATCH) {
          report(at, cells.length);
          const batch = await send(cells.slice(at, at + BATCH).map(({ shard, added_id }) => ({ shard, added_id })));
          [done, missing] = [done + batch.done, missing + batch.missing];
        }
      const gone = missing === 0 ? '' : ` ${countText(missing)} were not parked any more.`;
      return `${counted(done, 'cell')} ${isRetry ? 'will be sent again' : 'were forgotten'}.${gone}`;
    },
    onDone,
  };
}

/** What SQS gave up on: looked at only where somebody asks, since a look hides them for a moment. */
function Dead({ name, count }: { readonly name: string; readonly count: number }) {
  const page = usePage();
  const { datastore } = page;
  const [messages, setMessages] = useState<readonly DeadMessageShown[]>();
  const path = ['triggers', name, 'dead'];
  const look = (): void => {
    void askBeside(apiPath(datastore, path, { limit: 1000 })).then((answer) =>
      setMessages((answer as { messages: readonly DeadMessageShown[] }).messages),
    );
  };
  const act = (verb: 'replay' | 'discard'): Action => ({
    title: verb === 'replay' ? 'Send them again' : 'Delete them',
    operation: verb === 'replay' ? 'replayDeadMessages' : 'discardDeadMessages',
    cli: cliLine(page, ['parked', verb === 'replay' ? 'retry' : 'discard', name, '--dead']),
    ...(verb === 'discard' && { word: 'discard' }),
    foresee: async () => ({
      says:
        verb === 'replay'
          ? `The cells of about ${counted(count, 'message')} are parked and sent again soon, as replays.`
          : `About ${counted(count, 'message')} are deleted. The cells themselves stay where they are.`,
    }),
    act: async ({ signal }) => {
      const answer = (await askBeside(apiPath(datastore, [...path, verb]), { method: 'POST', body: {}, signal })) as {
        replayed?: number;
        discarded?: number;
        left: number;
      };
      return `${counted(answer.replayed ?? answer.discarded ?? 0, 'message')}${answer.left > 0 ? `; about ${countText(answer.left)} are left: do it again` : ''}.`;
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
          { header: 'Sent', value: ({ sent_at }) => html`<${Time} at=${sent_at} />`, width: '24ch' },
          {
            header: 'Cell',
            value: ({ cell }) =>
              cell
                ? html`<a href=${link(datastore, ['row', cell.row_key], { at: cell.added_id })}>${cell.shard}/${cell.added_id}</a>`
                : 'none of ours',
            width: '16ch',
          },
          { header: 'Sent again since', value: ({ resent }) => (resent ? 'yes' : 'no'), width: '18ch' },
        ],
      })
    }`;
}
