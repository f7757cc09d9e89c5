import { useState } from 'preact/hooks';
import type { MoveStatus } from '../../../../shared/api/moves.ts';
import { ActionButton } from '../actions.ts';
import { link } from '../address.ts';
import { Refused, type Ask } from '../api.ts';
import { html, onValue } from '../html.ts';
import { useLive } from '../live.ts';
import { CliLine, Facts, Time } from '../parts.ts';
import { usePage } from '../session.ts';
import { bytesText, countText, durationText, visible } from '../text.ts';
import { beginMoveAction, MoveActions, progressOf } from './moves.ts';

export interface MappedShard {
  readonly shard: number;
  readonly group: string;
  /** Undefined if its group is unavailable. */
  readonly head: number | undefined;
  /** Cells a second between the last two polls; undefined after the first. */
  readonly rate: number | undefined;
  readonly error: string | undefined;
  readonly isMoving: boolean;
}

interface OneShardProps {
  readonly shard: MappedShard;
  readonly groups: readonly string[];
  readonly move: MoveStatus | undefined;
  readonly onDone: () => void;
}

export function OneShard({ shard: { shard, group, head, rate, error }, groups, move, onDone }: OneShardProps) {
  const { session, datastore } = usePage();
  const [to, setTo] = useState('');
  const database = `${datastore}_${String(shard).padStart(4, '0')}`;
  const others = groups.filter((one) => one !== group);
  const last = useLive((ask) => moveOf(shard, ask), 2000, `${shard} ${move?.step ?? ''} ${move?.switches ?? ''}`);
  const known = last.data ?? move;
  return html`<${Facts}
      facts=${[
        ['Group', group],
        ['Database', html`<code>${database}</code>`],
        [
          'Log ends at',
          error ??
            html`<a href=${link(['logs'], { shards: shard, from: Math.max(0, (head ?? 0) - 100) })}>${countText(head)}</a>`,
        ],
        ['Hole at its end', html`<${Hole} shard=${shard} head=${head} />`],
        ['Written', rate === undefined ? '…' : `${rate.toFixed(1)} cells/s`],
      ]}
    />
    <h2>Move</h2>
    ${
      known
        ? html`<${Facts} facts=${factsOf(known)} /><${MoveActions} move=${known} onDone=${last.again} />`
        : html`<p class="quiet">No move of this shard is known.</p>`
    }
    ${
      !move &&
      others.length > 0 &&
      session.actions &&
      html`<div class="bar"><label>Copy it to <select value=${to} onChange=${onValue(setTo)}>
          <option value="">a group</option>${others.map((one) => html`<option value=${one}>${one}</option>`)}
        </select></label>
        ${to !== '' && html`<${ActionButton} label="See what it would do …" action=${beginMoveAction(shard, to, onDone)} />`}</div>`
    }
    <${CliLine} words=${['move', 'status', shard]} />`;
}

async function moveOf(shard: number, ask: Ask): Promise<MoveStatus | undefined> {
  try {
    return await ask<MoveStatus>(['moves', shard]);
  } catch (error) {
    if (error instanceof Refused && (error.code === 'unknown_move' || error.status === 403)) return undefined;
    throw error;
  }
}

function factsOf(move: MoveStatus) {
  return [
    ['Step', `${move.step}${move.wanted === null ? '' : `, ${move.wanted} is wanted`}`],
    ['From, to', `${move.from} → ${move.to}`],
    ['Copied', progressOf(move)],
    ['Rate, left', `${bytesText(move.bytes_per_second)}/s, ${durationText(move.eta_seconds)}`],
    ['Compared up to', countText(move.compared)],
    [
      'Switched',
      move.switched_at === null
        ? 'not yet'
        : html`<${Time} at=${move.switched_at} isExact />, no writes for ${move.closed_ms.map((one) => `${one.toFixed(0)} ms`).join(', ')}`,
    ],
    ['Begun', html`<${Time} at=${move.created_at} isExact />`],
    ['Trouble', move.last_error === null ? 'none' : visible(move.last_error)],
  ] as const;
}

/** Shows a hole at the log's end: a commit that is not visible yet, or a lost one if it stays. */
function Hole({ shard, head }: { readonly shard: number; readonly head: number | undefined }) {
  const live = useLive(
    (ask) =>
      ask<{ next: number; more: boolean; cells: readonly unknown[] }>(['shards', shard, 'cells'], {
        query: { after: Math.max(0, (head ?? 0) - 100), limit: 1000 },
      }),
    5000,
    String(shard),
  );
  if (live.error) return html`${live.error.code ?? 'no answer'}`;
  if (!live.data) return html`…`;
  const { more, next, cells } = live.data;
  return html`${more && cells.length < 1000 ? `after ${next}: not visible yet` : 'none'}`;
}
