import type { ParkedCell, ParkedPage, TriggerDetails, TriggerSummary } from '../../../../shared/api/trigger-shapes.ts';
import { link } from '../address.ts';
import { unlessDenied, type Ask } from '../api.ts';
import { cellsWithBodies, type ShownCell } from '../cells.ts';
import { differences, type Difference } from '../differences.ts';
import { shortJson, type Value } from '../exact-json.ts';
import { html } from '../html.ts';
import { ONCE, useLive } from '../live.ts';
import { Badge, CliLine, Facts, JsonBody, shownOf, Time, type Tone } from '../parts.ts';
import { column, links, table } from '../table.ts';
import { agoText, counted, placeText, positionOf, visible } from '../text.ts';

interface OfTheCellProps {
  readonly cell: ShownCell;
  readonly before: ShownCell | undefined;
  readonly shown: boolean;
}

export function OfTheCell({ cell, before, shown }: OfTheCellProps) {
  const { shard, added_id, transaction } = cell;
  return html`<section aria-label="The chosen cell">
    <h2>${visible(cell.column_name)}, ${cell.ref_key}</h2>
    ${cell.erased !== true && (shown ? html`<${Bodies} cell=${cell} before=${before} />` : html`<p class="quiet">Its body is hidden.</p>`)}
    <${Facts}
      facts=${[
        [
          'Position',
          html`<a href=${link(['logs'], { shards: shard, from: Math.max(0, added_id - 10) })}>${positionOf(cell)}</a>`,
        ],
        ['Stored', html`<${Time} at=${cell.created_at} isExact />`],
        ...(transaction
          ? [
              [
                'Transaction',
                html`<a href=${link(['logs'], { shards: shard, from: added_id - transaction.position - 1 })}>cell ${placeText(transaction)}</a>`,
              ],
            ]
          : []),
        ...(cell.erased === true ? [['Erased', 'its body is gone for good']] : []),
        ...(cell.error ? [['Damaged', cell.error.detail]] : []),
      ]}
    />
    <h3>Triggers</h3>
    <${TriggersOfCell} key=${positionOf(cell)} cell=${cell} />
    <${CliLine} words=${['get', cell.row_key, cell.column_name, cell.ref_key]} />
  </section>`;
}

function Bodies({ cell, before }: Omit<OfTheCellProps, 'shown'>) {
  const live = useLive(
    (ask) => cellsWithBodies(before && before.erased !== true ? [cell, before] : [cell], ask),
    ONCE,
    `${cell.shard} ${cell.added_id} ${before?.added_id ?? ''}`,
  );
  return shownOf(
    live,
    ([now, earlier]) =>
      html`${now && html`<${JsonBody} value=${now.body} />`}
      ${now && earlier && html`<h3>What changed since ${earlier.ref_key}</h3><${Changes} before=${earlier.body} after=${now.body} />`}`,
  );
}

function Changes({ before, after }: { readonly before: Value; readonly after: Value }) {
  const { found, more } = differences(before, after);
  const text = (value: Value | undefined): string => (value === undefined ? '–' : shortJson(value, 300));
  return html`${table<Difference>({
    label: 'What changed',
    items: found,
    keyOf: ({ path }) => path,
    empty: 'Nothing: both are equal.',
    columns: [
      column('Where', '16ch', ({ path }) => (path === '' ? 'the whole' : visible(path))),
      column('Before', '24ch', (one) => html`<del>${text(one.before)}</del>`, { gives: true }),
      column('Now', '24ch', (one) => html`<ins>${text(one.after)}</ins>`, { gives: true }),
    ],
  })}${more && html`<p class="quiet">There are more changes.</p>`}`;
}

interface Made {
  readonly trigger: string;
  readonly tone: Tone;
  readonly state: string;
  readonly says: string;
}

function TriggersOfCell({ cell }: { readonly cell: ShownCell }) {
  const live = useLive((ask) => madeOf(cell, ask), 3000, `${cell.shard} ${cell.added_id}`);
  return shownOf(live, (items) =>
    table<Made>({
      label: 'Triggers of the cell',
      items,
      keyOf: ({ trigger }) => trigger,
      empty: 'No trigger takes its column, or you may not see triggers.',
      columns: [
        links('Trigger', '16ch', ({ trigger }) => [trigger, link(['triggers', trigger])]),
        column('State', '12ch', ({ tone, state }) => html`<${Badge} tone=${tone}>${state}<//>`),
        column('Why', '60ch', ({ says }) => visible(says), { gives: true }),
      ],
    }),
  );
}

async function madeOf(cell: ShownCell, ask: Ask): Promise<readonly Made[]> {
  const all = await unlessDenied<{ triggers: readonly TriggerSummary[] }>(ask(['triggers']));
  const own = (all?.triggers ?? []).filter(({ columns }) => columns === '*' || columns.includes(cell.column_name));
  const made: Made[] = [];
  for (const { trigger } of own) {
    const after = cell.shard === 0 ? undefined : cell.shard - 1;
    const details = await ask<TriggerDetails>(['triggers', trigger], { query: { limit: 1, after } });
    const at = details.shards.find(({ shard }) => shard === cell.shard);
    const parked = at !== undefined && at.parked > 0 ? await parkedHere(trigger, cell, ask) : undefined;
    made.push({ trigger, ...whatBecame(details, at, parked, cell) });
  }
  return made;
}

/** The list is in order of shard and added id, so a page can begin right before the cell. */
async function parkedHere(trigger: string, { shard, added_id }: ShownCell, ask: Ask): Promise<ParkedCell | undefined> {
  const after = positionOf({ shard, added_id: added_id - 1 });
  const { cells } = await ask<ParkedPage>(['triggers', trigger, 'parked'], { query: { limit: 1, after } });
  return cells.find((one) => one.shard === shard && one.added_id === added_id);
}

type At = TriggerDetails['shards'][number] | undefined;

function whatBecame(
  { state, last_error: last, max_attempts: most }: TriggerDetails,
  at: At,
  parked: ParkedCell | undefined,
  { shard, added_id }: ShownCell,
): Omit<Made, 'trigger'> {
  if (parked)
    return {
      tone: 'warn',
      state: 'parked',
      says: `after ${counted(parked.attempts, 'attempt')}, ${agoText(parked.parked_at, Date.now())}: ${parked.last_error}${parked.retry === null ? '' : ` (retry: ${parked.retry})`}`,
    };
  if (!at || at.offset === null)
    return { tone: 'plain', state: 'not begun', says: 'the trigger has not started on this shard' };
  if (at.consumed !== null && at.consumed >= added_id)
    return { tone: 'good', state: 'consumed', says: `its consumer is past it, at ${at.consumed} or later` };
  const halted = state === 'running' ? '' : `; the trigger is ${state}`;
  if (at.offset < added_id) return { tone: 'plain', state: 'not sent', says: `sent up to ${at.offset}${halted}` };
  if (last && last.shard === shard && last.added_id === added_id)
    return {
      tone: 'warn',
      state: 'failing',
      says: `${agoText(last.at, Date.now())}: ${last.error}; parked after ${counted(most, 'attempt')}`,
    };
  if (at.failing > 0)
    return {
      tone: 'warn',
      state: 'sent',
      says: `${counted(at.failing, 'cell')} of its shard fail and are retried: it may wait behind one of them${halted}`,
    };
  return {
    tone: 'plain',
    state: 'sent',
    says: `waits for its consumer, which is at ${at.consumed ?? '–'} or later${halted}`,
  };
}
