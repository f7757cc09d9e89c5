import type { TriggerDetails, TriggerSummary, TriggerSwitch } from '../../../../shared/api/trigger-shapes.ts';
import { ActionButton } from '../actions.ts';
import { link, useAddress } from '../address.ts';
import { html } from '../html.ts';
import { POLL_MS, useLive } from '../live.ts';
import { Badge, CliLine, Facts, shownOf, Time, type Tone } from '../parts.ts';
import { usePage, type Action } from '../session.ts';
import { column, counts, links, table } from '../table.ts';
import { counted, countedAre, countText, durationText, visible } from '../text.ts';
import { Lags, sampled } from './lags.ts';
import { ParkedScreen } from './parked.ts';
import { Rewind } from './rewind.ts';
import { Shards } from './trigger-shards.ts';

const TONES: Readonly<Record<TriggerSwitch['state'], Tone>> = { running: 'good', paused: 'warn', stopped: 'bad' };

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
      column('State', '11ch', ({ state }) => html`<${Badge} tone=${TONES[state]}>${state}<//>`),
      column('Behind, sent', '22ch', ({ sent }) => lagText(sent), { isNumber: true }),
      column('Behind, consumed', '22ch', ({ lag }) => lagText(lag), { isNumber: true }),
      counts('On the queue', '13ch', ({ waiting }) => waiting),
      counts('Failing', '9ch', ({ failing }) => failing),
      links(
        'Parked',
        '9ch',
        ({ trigger, parked, malformed }) => [countText(parked + malformed), link(['triggers', trigger, 'parked'])],
        { isNumber: true },
      ),
      counts('Given up', '9ch', ({ dead }) => dead),
      column('Last error', '50ch', ({ last_error: last }) => (last ? visible(last.error) : '–'), { gives: true }),
    ],
  });
}

function lagText({ cells, seconds, unknown_shards: unknown }: TriggerSummary['lag']): string {
  const hidden = unknown === 0 ? '' : ` (${counted(unknown, 'shard')} unknown)`;
  return `${cells === 0 ? '0' : `${countText(cells)}, ${durationText(seconds)}`}${hidden}`;
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
      }) => html`<p role="status"><${Badge} tone=${TONES[details.state]}>${details.state}<//> ${stateText(details)}</p>
      <div class="bar">
        ${
          details.state === 'running'
            ? html`<${ActionButton} label="Pause …" action=${pauseAction(details, live.again)} />`
            : html`<${ActionButton} label="Resume …" action=${resumeAction(details, live.again)} />`
        }
        <a class="button" href=${link(['triggers', name, 'parked'])}>Parked cells: ${countText(details.parked + details.malformed)}${details.dead ? `, given up: ${countText(details.dead)}` : ''}</a>
      </div>
      <${Lags} samples=${samples} />
      <${Facts} facts=${factsOf(details)} />
      <${Rewind} details=${details} onDone=${live.again} />
      <h2>Shards</h2>
      <${Shards} name=${name} />`,
    )}
    <${CliLine} words=${['triggers', 'show', name]} />`;
}

/** What somebody at night wants to know first. */
function stateText({
  state,
  reason,
  changed_at: since,
  parked,
  stop_after_parked: most,
  lag,
  resent,
}: TriggerDetails): string {
  const why = reason === null ? '' : `: ${visible(reason)}`;
  if (state === 'stopped')
    return `since ${since ?? '?'}${why}. Nothing is sent or consumed. ${countedAre(parked, 'cell')} parked, ${most} stop it. See what they failed on, mend that, resume it, and retry them.`;
  if (state === 'paused') return `since ${since ?? '?'}${why}. Nothing is sent or consumed; nothing is lost.`;
  if (resent && resent.done_at === null)
    return `all that is not known to be consumed is being sent again: ${resent.why}`;
  return lag.cells === 0
    ? 'and up to date.'
    : `${counted(lag.cells, 'cell')} behind at most, the oldest ${durationText(lag.seconds)} old.`;
}

function factsOf(details: TriggerDetails) {
  const { last_error: last, skipped, columns, waiting, dead } = details;
  return [
    ['Behind, sent', lagText(details.sent)],
    ['Behind, consumed', lagText(details.lag)],
    ['On the queue', countText(waiting)],
    ['Given up by SQS', countText(dead)],
    ['Failing now', countText(details.failing)],
    [
      'Last error',
      last
        ? html`${visible(last.error)} <span class="quiet">at ${last.shard}/${last.added_id}, <${Time} at=${last.at} /></span>`
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
    question: 'Why? Others are shown it.',
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
      says: `${trigger} is sent and consumes ${counted(lag.cells, 'cell')} that it is behind. ${counted(parked, 'cell')} ${parked === 1 ? 'stays' : 'stay'} parked, to be retried apart. If what they failed on is not mended, it stops again.`,
    }),
    act: async ({ ask }) => {
      await ask(['triggers', trigger, 'resume'], { body: {} });
      return 'It runs.';
    },
    onDone,
  };
}
