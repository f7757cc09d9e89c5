import type { TriggerDetails, TriggerSummary, TriggerShard } from '../../../../shared/api/trigger-shapes.ts';
import { ActionButton } from '../actions.ts';
import { link, useAddress } from '../address.ts';
import { html } from '../html.ts';
import { POLL_MS, useLive } from '../live.ts';
import { Badge, CliLine, Facts, shownOf, Time, type Tone } from '../parts.ts';
import { usePage, type Action } from '../session.ts';
import { column, counts, links, table } from '../table.ts';
import { counted, countedAre, countText, durationText, positionOf, visible } from '../text.ts';
import { Lags, sampled } from './lags.ts';
import { ParkedScreen } from './parked.ts';
import { Rewind } from './rewind.ts';
import { collected, pagesOf } from '../feed.ts';

/** Returns amber for a trigger that runs but has cells that it failed. */
export function toneOf(trigger: TriggerSummary): Tone {
  if (trigger.state === 'stopped') return 'bad';
  return trigger.state === 'paused' || asideOf(trigger) > 0 ? 'warn' : 'good';
}

/** Returns how many cells and messages wait for an operator. */
export function asideOf({ parked, malformed, dead }: TriggerSummary): number {
  return parked + malformed + (dead ?? 0);
}

export function TriggersScreen() {
  const { parts } = useAddress();
  const [name, below] = parts;
  if (name === undefined) return html`<${AllTriggers} />`;
  return below === 'parked'
    ? html`<${ParkedScreen} key=${name} name=${name} />`
    : html`<${OneTrigger} key=${name} name=${name} />`;
}

function AllTriggers() {
  const { datastore } = usePage();
  const live = useLive(async (ask) => {
    const { triggers } = await ask<{ triggers: readonly TriggerSummary[] }>(['triggers']);
    for (const one of triggers) sampled(datastore, one);
    return triggers;
  }, POLL_MS);
  return html`<h1>Triggers</h1>
    ${shownOf(live, triggerTable)}
    <${CliLine} words=${['triggers', 'list']} />`;
}

function triggerTable(triggers: readonly TriggerSummary[]) {
  return table<TriggerSummary>({
    label: 'Triggers',
    items: triggers,
    keyOf: ({ trigger }) => trigger,
    empty: 'The datastore has none.',
    columns: [
      links('Trigger', '22ch', ({ trigger }) => [trigger, link(['triggers', trigger])]),
      column('State', '11ch', (one) => html`<${Badge} tone=${toneOf(one)}>${one.state}<//>`),
      column('Parked', '10ch', (one) => parkedLink(one), { isNumber: true }),
      counts('Failing', '9ch', ({ failing }) => failing),
      column('Not sent', '17ch', ({ sent }) => lagText(sent), { isNumber: true }),
      column('Not consumed', '17ch', ({ lag }) => lagText(lag), { isNumber: true }),
      counts('Queued', '9ch', ({ waiting }) => waiting),
      column('Last error', '60ch', ({ last_error: last }) => (last ? visible(last.error) : '–'), { gives: true }),
    ],
  });
}

function parkedLink(one: TriggerSummary, label = '') {
  const count = asideOf(one);
  return html`<a class=${`badge ${count > 0 ? 'warn' : ''}`} href=${link(['triggers', one.trigger, 'parked'])}>${label}${countText(count)}</a>`;
}

export function lagText({ cells, seconds, unknown_shards: unknown }: TriggerSummary['lag']): string {
  const hidden = unknown === 0 ? '' : ` (${counted(unknown, 'shard')} unknown)`;
  return `${cells === 0 ? '0' : `${counted(cells, 'cell')}, ${durationText(seconds)}`}${hidden}`;
}

function OneTrigger({ name }: { readonly name: string }) {
  const { datastore } = usePage();
  const live = useLive(
    async (ask) => {
      const details = await ask<TriggerDetails>(['triggers', name], { query: { limit: 1 } });
      return { details, samples: sampled(datastore, details) };
    },
    POLL_MS,
    name,
  );
  return html`<h1><a href=${link(['triggers'])}>Triggers</a> / ${name}</h1>
    ${shownOf(
      live,
      ({
        details,
        samples,
      }) => html`<p role="status"><${Badge} tone=${toneOf(details)}>${details.state}<//> ${stateText(details)}</p>
      <div class="bar">
        ${
          details.state === 'running'
            ? html`<${ActionButton} label="Pause …" action=${pauseAction(details, live.again)} />`
            : html`<${ActionButton} label="Resume …" action=${resumeAction(details, live.again)} />`
        }
        ${parkedLink(details, 'Parked cells: ')}
      </div>
      <${Facts} facts=${factsOf(details)} />
      <${Lags} samples=${samples} />
      <${Rewind} details=${details} onDone=${live.again} />
      <h2>Shards</h2>
      <${Shards} name=${name} />`,
    )}
    <${CliLine} words=${['triggers', 'show', name]} />`;
}

/** Returns the state in words, for an operator who was woken. */
function stateText({ state, reason, changed_at: since, parked, lag, resent }: TriggerDetails) {
  const why = html` <${Time} at=${since} />${reason === null ? '' : `: ${visible(reason)}`}.`;
  if (state === 'stopped')
    return html`${why} Nothing is sent or consumed. See the errors, fix the cause, resume the trigger, and retry the cells.`;
  if (state === 'paused') return html`${why} Nothing is sent or consumed; nothing is lost.`;
  if (resent && resent.done_at === null)
    return `all cells that may not be consumed are being sent again: ${resent.why}`;
  const aside = parked === 0 ? '' : `, but ${countedAre(parked, 'cell')} parked`;
  return lag.cells === 0
    ? `and up to date${aside}.`
    : `at most ${counted(lag.cells, 'cell')} behind, the oldest ${durationText(lag.seconds)} old${aside}.`;
}

function factsOf(details: TriggerDetails) {
  const { last_error: last, skipped, columns, waiting, dead } = details;
  return [
    ['Not sent', lagText(details.sent)],
    ['Not consumed', lagText(details.lag)],
    ['Queued', countText(waiting)],
    ['In the dead-letter queue', countText(dead)],
    ['Failing now', countText(details.failing)],
    [
      'Last error',
      last
        ? html`${visible(last.error)} <span class="quiet">at ${positionOf(last)}, <${Time} at=${last.at} /></span>`
        : 'none',
    ],
    ['Columns', columns === '*' ? 'all' : columns.map(visible).join(', ')],
    ['Function', details.function ?? 'elsewhere'],
    ['Parked after', counted(details.max_attempts, 'attempt')],
    ['Stops at', counted(details.stop_after_parked, 'parked cell')],
    [
      'Parked are retried',
      details.retry_parked_every_seconds === null
        ? 'by hand'
        : `every ${durationText(details.retry_parked_every_seconds)}`,
    ],
    [
      'Rewound',
      details.rewound_at === null
        ? 'never'
        : html`<${Time} at=${details.rewound_at} />${skipped ? `, skipping ${counted(skipped.cells, 'cell')}` : ''}`,
    ],
  ] as const;
}

function pauseAction({ trigger, lag }: TriggerDetails, onDone: () => void): Action {
  return {
    title: 'Pause the trigger',
    operation: 'pauseTrigger',
    cli: (reason) => ['triggers', 'pause', trigger, ...(reason === '' ? [] : ['--reason', reason])],
    question: 'Why? Other users see the reason.',
    foresee: async () => ({
      says: `Within some two seconds nothing is sent or consumed for ${trigger} any more. It is ${counted(lag.cells, 'cell')} behind; what is queued stays, and nothing is lost.`,
    }),
    act: async ({ ask, answer }) => {
      await ask(['triggers', trigger, 'pause'], { body: answer === '' ? {} : { reason: answer } });
      return 'It is paused.';
    },
    onDone,
  };
}

function resumeAction({ trigger, lag, parked }: TriggerDetails, onDone: () => void): Action {
  return {
    title: 'Resume the trigger',
    operation: 'resumeTrigger',
    cli: ['triggers', 'resume', trigger],
    foresee: async () => ({
      says: `${trigger} is sent and consumes ${counted(lag.cells, 'cell')} that it is behind. ${counted(parked, 'cell')} ${parked === 1 ? 'stays' : 'stay'} parked, to be retried separately. If the cause is not fixed, it stops again.`,
    }),
    act: async ({ ask }) => {
      await ask(['triggers', trigger, 'resume'], { body: {} });
      return 'It runs.';
    },
    onDone,
  };
}

function Shards({ name }: { readonly name: string }) {
  const live = useLive(
    async (ask) => {
      const pages = pagesOf<TriggerDetails>(ask, ['triggers', name], { limit: 1000 });
      // Shards that are behind come first.
      return (await collected(pages, ({ shards }) => shards)).toSorted(
        (one, other) => (other.cells ?? 0) - (one.cells ?? 0) || other.parked - one.parked || one.shard - other.shard,
      );
    },
    10_000,
    name,
  );
  return shownOf(live, (items) =>
    table<TriggerShard>({
      label: 'Shards, those that are behind first',
      items,
      keyOf: ({ shard }) => String(shard),
      columns: [
        links('Shard', '10ch', ({ shard }) => [shard, link(['shards', shard])], { isNumber: true }),
        counts('Log end', '11ch', ({ head }) => head),
        counts('Sent up to', '11ch', ({ offset }) => offset),
        counts('Consumed up to', '15ch', ({ consumed }) => consumed),
        column(
          'Behind',
          '16ch',
          ({ cells, seconds }) =>
            cells === null ? 'unknown' : cells === 0 ? '0' : `${countText(cells)}, ${durationText(seconds)}`,
          { isNumber: true },
        ),
        column('Parked', '9ch', ({ parked }) => (parked === 0 ? '0' : html`<${Badge} tone="warn">${parked}<//>`), {
          isNumber: true,
        }),
        counts('Failing', '9ch', ({ failing }) => failing),
      ],
    }),
  );
}
