import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TriggerSummary } from '../../../../shared/api/trigger-shapes.ts';
import { link } from '../address.ts';
import { unlessDenied, type Session, type ShardHeads } from '../api.ts';
import { headsOf, rateOf, type Heads } from '../heads.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, Facts, Freshness, shownOf, type Tone } from '../parts.ts';
import { usePage } from '../session.ts';
import { counted } from '../text.ts';
import { downGroups, StatusBadge, type Health } from './health.ts';
import { asideOf, lagText, toneOf } from './triggers.ts';

const SESSION_MS = 10_000;
const CARD_MS = 4000;

/** Shows a card for each datastore. An address with a datastore that does not exist also leads here. */
export function OverviewScreen() {
  const { session, datastore } = usePage();
  const health = useLive((ask) => ask<Health>('/v1/health'), CARD_MS);
  // A datastore may have been applied since the page was opened.
  const names = useLive((ask) => ask<Session>('/console/session.json'), SESSION_MS).data?.datastores;
  const isUnknown = datastore !== '' && !session.datastores.includes(datastore);
  useEffect(() => {
    if (isUnknown && names?.includes(datastore)) location.reload();
  }, [isUnknown, names]);
  const all = names ?? session.datastores;
  return html`<h1>${isUnknown ? `No datastore ${datastore}` : 'Overview'}</h1>
    ${isUnknown && html`<p role="status">Its name may be misspelled, or it was deleted.${all.length > 0 && ' These exist:'}</p>`}
    ${!isUnknown && html`<${Freshness} live=${health} />`}
    ${!isUnknown && health.data && html`<p><${StatusBadge} health=${health.data} /> ${groupsText(health.data)}</p>`}
    ${all.length === 0 && html`<p>There is no datastore yet. Define one by a folder with a <code>datastore.yaml</code>.</p>`}
    <div class="cards">${all.map((name) => html`<${Card} key=${name} name=${name} isChosen=${name === datastore} />`)}</div>`;
}

function groupsText(health: Health) {
  const down = downGroups(health);
  const text = down.length > 0 ? down.join('; ') : `All nodes of ${counted(health.groups.length, 'group')} answer`;
  return html`<a href=${link(['health'])}>${text}</a>`;
}

function Card({ name, isChosen }: { readonly name: string; readonly isChosen: boolean }) {
  const before = useRef<Heads>(undefined);
  const live = useLive(
    async (ask) => {
      const path = `/v1/${encodeURIComponent(name)}`;
      const answer = await unlessDenied(ask<ShardHeads>(`${path}/shards`));
      const all = await unlessDenied(ask<{ triggers: readonly TriggerSummary[] }>(`${path}/triggers`));
      const now = answer && headsOf(answer);
      const rates = now ? [...now.heads.keys()].flatMap((shard) => rateOf(before.current, now, shard) ?? []) : [];
      const rate = rates.length === 0 ? undefined : rates.reduce((sum, one) => sum + one, 0);
      before.current = now;
      return { now, rate, silent: (answer?.shards.length ?? 0) - (now?.heads.size ?? 0), triggers: all?.triggers };
    },
    CARD_MS,
    name,
  );
  const to = (screen: string, text: ComponentChildren) => html`<a href=${link([screen], {}, name)}>${text}</a>`;
  return html`<section class=${isChosen ? 'card chosen' : 'card'} aria-label=${name}>
    <h2>${to('triggers', name)}</h2>
    ${shownOf(live, ({ now, rate, silent, triggers }) => {
      const cells = now && [...now.heads.values()].reduce((sum, head) => sum + head, 0);
      return html`<${Facts} facts=${[
        ['Writes', to('logs', now ? (rate === undefined ? '…' : `${rate.toFixed(1)}/s`) : 'not for you')],
        [
          'Size',
          to(
            'shards',
            now ? `${counted(cells ?? 0, 'cell')}, ${counted(now.heads.size + silent, 'shard')}` : 'not for you',
          ),
        ],
        ...(triggers ? triggerFacts(triggers, name) : [['Triggers', 'not for you'] as const]),
      ]} />
      ${silent > 0 && html`<p><${Badge} tone="bad">${counted(silent, 'shard')} without an answer<//></p>`}`;
    })}
  </section>`;
}

/** Returns the largest lag, the parked cells, and the triggers that do not run. */
function triggerFacts(triggers: readonly TriggerSummary[], datastore: string) {
  const [most] = triggers.toSorted((one, other) => other.lag.cells - one.lag.cells);
  const failed = triggers.filter((one) => asideOf(one) > 0);
  const halted = triggers.filter(({ state }) => state !== 'running');
  const parked = failed.reduce((sum, one) => sum + asideOf(one), 0);
  const path = failed.length === 1 ? ['triggers', failed[0]?.trigger ?? '', 'parked'] : ['triggers'];
  const badge = (tone: Tone, text: string, to: readonly string[]) =>
    html`<a class=${`badge ${tone}`} href=${link(to, {}, datastore)}>${text}</a>`;
  return [
    ['Lag', most ? `${lagText(most.lag)}${most.lag.cells > 0 ? ` (${most.trigger})` : ''}` : 'no triggers'],
    ['Parked', parked === 0 ? '0' : badge('warn', counted(parked, 'cell'), path)],
    ...halted.map((one) => [one.trigger, badge(toneOf(one), one.state, ['triggers', one.trigger])] as const),
  ] as const;
}
