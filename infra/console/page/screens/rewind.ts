import { useState } from 'preact/hooks';
import type { TriggerDetails, TriggerRewind } from '../../../../shared/api/trigger-shapes.ts';
import { ActionButton } from '../actions.ts';
import type { Ask } from '../api.ts';
import { pagesOf } from '../feed.ts';
import { html, onValue } from '../html.ts';
import { usePage, type Action } from '../session.ts';
import { counted } from '../text.ts';

/** Asks for the target, and shows the effect before the rewind. */
export function Rewind({ details, onDone }: { readonly details: TriggerDetails; readonly onDone: () => void }) {
  const { session } = usePage();
  const [to, setTo] = useState('');
  if (!session.actions) return null;
  const chosen = parseRewind(to);
  return html`<div class="bar">
    <label>Rewind to <input value=${to} size="34" placeholder="start, now, a time, or 3=120 17=0" onInput=${onValue(setTo)} /></label>
    ${chosen !== undefined && html`<${ActionButton} label="See what it would do …" action=${rewindAction(details, { text: to, to: chosen }, onDone)} />`}
  </div>`;
}

type To = string | Readonly<Record<string, number>>;

function parseRewind(text: string): To | undefined {
  const trimmed = text.trim();
  if (trimmed === 'start' || trimmed === 'now') return trimmed;
  if (/^\d{4}-\d{2}-\d{2}T/u.test(trimmed)) return trimmed;
  const pairs = trimmed.split(/[\s,]+/u).map((pair) => /^(\d{1,6})=(\d{1,16})$/u.exec(pair));
  if (trimmed === '' || pairs.some((pair) => pair === null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', Number(pair?.[2])]));
}

function rewindAction(
  { trigger }: TriggerDetails,
  { text, to }: { readonly text: string; readonly to: To },
  onDone: () => void,
): Action {
  const path = ['triggers', trigger, 'rewind'];
  return {
    title: 'Rewind the trigger',
    operation: 'rewindTrigger',
    cli: ['triggers', 'rewind', trigger, ...text.trim().split(/[\s,]+/u)],
    word: trigger,
    foresee: async (ask) => {
      const { skips } = await ask<TriggerRewind>(path, { body: { to, dry_run: true } });
      const again = await sentAgain(trigger, to, ask);
      const cells = skips.reduce((sum, one) => sum + one.cells, 0);
      const left =
        cells === 0
          ? 'It skips no cell.'
          : `It skips ${counted(cells, 'cell')} of ${counted(skips.length, 'shard')}: they were not sent, and will not be.`;
      return {
        says: `${again} ${left} Messages on the queue are still consumed.`,
        some: skips
          .slice(0, 20)
          .map((one) => `shard ${one.shard}: ${counted(one.cells, 'cell')} after ${one.after}, up to ${one.to}`),
      };
    },
    act: async ({ ask }) => {
      await ask(path, { body: { to } });
      return 'It continues from there.';
    },
    onDone,
  };
}

/** Describes the cells that a rewind sends again; their number is unknown for a time. */
async function sentAgain(trigger: string, to: To, ask: Ask): Promise<string> {
  if (to === 'now') return 'Nothing is sent again.';
  if (typeof to === 'string' && to !== 'start')
    return 'Every cell stored since then is sent again, marked as a replay.';
  let cells = 0;
  for await (const { shards } of pagesOf<TriggerDetails>(ask, ['triggers', trigger], { limit: 1000 }))
    for (const { shard, offset } of shards) {
      const place = to === 'start' ? 0 : (to as Readonly<Record<string, number>>)[String(shard)];
      if (place !== undefined) cells += Math.max(0, (offset ?? 0) - place);
    }
  return `Up to ${counted(cells, 'cell')} that were sent, of any column, are read again; those of its columns are sent again, marked as replays.`;
}
