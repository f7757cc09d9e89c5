import type { MoveStatus } from '../../../../shared/api/moves.ts';
import { ActionButton } from '../actions.ts';
import { link } from '../address.ts';
import type { ShardHeads } from '../api.ts';
import { html } from '../html.ts';
import { Badge } from '../parts.ts';
import { usePage, type Action } from '../session.ts';
import { column, links, table } from '../table.ts';
import { bytesText, counted, countText, durationText, visible } from '../text.ts';

export function MoveTable({ moves }: { readonly moves: readonly MoveStatus[] }) {
  return table<MoveStatus>({
    label: 'Moves under way',
    items: moves,
    keyOf: ({ shard }) => String(shard),
    empty: 'No shard is being moved.',
    columns: [
      links('Shard', '9ch', ({ shard }) => [shard, link(['shards', shard])], { isNumber: true }),
      column('From', '11ch', ({ from }) => from),
      column('To', '11ch', ({ to }) => to),
      column(
        'Step',
        '18ch',
        ({ step, wanted }) =>
          html`<${Badge} tone=${step === 'waiting' ? 'warn' : 'plain'}>${step}<//>${wanted === null ? '' : ` ${wanted} wanted`}`,
      ),
      column('Copied', '28ch', progressOf),
      column('Rate', '11ch', ({ bytes_per_second: rate }) => `${bytesText(rate)}/s`, { isNumber: true }),
      column('Left', '10ch', ({ eta_seconds: eta }) => durationText(eta), { isNumber: true }),
      column('Trouble', '40ch', ({ last_error: error }) => (error === null ? '' : visible(error)), { gives: true }),
    ],
  });
}

export function progressOf({ step, copied, head }: MoveStatus) {
  const percent = step === 'waiting' ? 0 : head === 0 ? 100 : Math.min(100, Math.floor((100 * copied) / head));
  return html`<progress max="100" value=${percent} aria-label="how much is copied"></progress> ${percent} %, ${countText(Math.max(0, head - copied))} behind`;
}

const STEPS = {
  switch: {
    title: 'Switch the shard',
    says: ({ shard, to, head, copied }: MoveStatus) =>
      `Shard ${shard} takes no writes for a moment (usually some milliseconds), while the last cells are copied and compared; then ${to} owns it. The copy is ${counted(Math.max(0, head - copied), 'cell')} behind. The switch stays reversible.`,
  },
  reverse: {
    title: 'Reverse the switch',
    says: ({ shard, to }: MoveStatus) => `Shard ${shard} goes back to ${to}, with everything written since.`,
  },
  complete: {
    title: 'Complete the move',
    says: ({ shard, to }: MoveStatus) =>
      `The old copy of shard ${shard} on ${to} is dropped: afterwards only another move returns the shard.`,
  },
  cancel: {
    title: 'Cancel the move',
    says: ({ shard, to, copied }: MoveStatus) =>
      `The copy of shard ${shard} on ${to} (${counted(copied, 'cell')}) is dropped; the shard stays where it is.`,
  },
  verify: {
    title: 'Verify the copy',
    says: ({ shard, head }: MoveStatus) =>
      `The whole copy of shard ${shard} is compared with it again, ${counted(head, 'cell')}. Nothing is changed.`,
  },
} as const;

export function MoveActions({ move, onDone }: { readonly move: MoveStatus; readonly onDone: () => void }) {
  const { session } = usePage();
  const over = move.step === 'completed' || move.step === 'cancelled' || move.step === 'dropping';
  if (over || !session.actions) return null;
  const steps: readonly (keyof typeof STEPS)[] =
    move.switches === 0 ? ['switch', 'cancel', 'verify'] : ['reverse', 'complete', 'verify'];
  return html`<div class="bar">${steps.map((step) => html`<${ActionButton} label=${`${STEPS[step].title} …`} action=${moveAction(move, step, onDone)} />`)}</div>`;
}

function moveAction({ shard }: MoveStatus, step: keyof typeof STEPS, onDone: () => void): Action {
  const { title, says } = STEPS[step];
  return {
    title,
    operation: `${step}Move`,
    cli: ['move', step, shard],
    ...(step === 'complete' && { word: String(shard) }),
    foresee: async (ask) => ({ says: says(await ask(['moves', shard])) }),
    act: async ({ ask }) => {
      await ask(['moves', shard, step], { body: {} });
      return 'It is done within seconds: the move shows it.';
    },
    onDone,
  };
}

export function beginMoveAction(shard: number, to: string, onDone: () => void): Action {
  return {
    title: `Copy shard ${shard} to ${to}`,
    operation: 'createMove',
    cli: ['move', 'create', shard, '--to', to],
    foresee: async (ask) => {
      const { shards } = await ask<ShardHeads>(['shards']);
      const own = shards.find((one) => one.shard === shard);
      const cells = own && !own.error ? ` (${counted(own.head, 'cell')})` : '';
      return {
        says: `A copy of shard ${shard}${cells} is made on ${to} and follows it, while it is read and written on ${own?.group ?? 'its group'}. An operator switches it to move the shard.`,
      };
    },
    act: async ({ ask }) => {
      await ask(['moves'], { body: { shard, to } });
      return 'The copy is begun.';
    },
    onDone,
  };
}
