import { useState } from 'preact/hooks';
import type { BufferConflict, GroupBuffer } from '../../../../shared/api/buffer.ts';
import { ActionButton } from '../actions.ts';
import { shortJson, type Value } from '../exact-json.ts';
import { html } from '../html.ts';
import { ONCE, useLive } from '../live.ts';
import { Freshness, Reveal } from '../parts.ts';
import type { Doing } from '../session.ts';
import { column, rowKeys, table, times } from '../table.ts';
import { countText, visible } from '../text.ts';

type Kept = BufferConflict & { readonly hidden?: true };

export function KeptWrites({ counts }: { readonly counts: readonly GroupBuffer[] }) {
  const sum = (of: 'conflicts' | 'in_doubt'): number =>
    counts.reduce((all, one) => all + ('error' in one ? 0 : one[of]), 0);
  const [conflicts, in_doubt] = [sum('conflicts'), sum('in_doubt')];
  if (conflicts + in_doubt === 0) return html`<p class="quiet">None: no conflicts, nothing in doubt.</p>`;
  return html`${in_doubt > 0 && html`<${KeptList} kind="in_doubt" count=${in_doubt} />`}
  ${conflicts > 0 && html`<${KeptList} kind="conflicts" count=${conflicts} />`}`;
}

const KINDS = {
  conflicts: {
    route: 'conflicts',
    title: 'Conflicts',
    means:
      'They were answered 202, but another body was at their address. They are kept until an operator discards them.',
  },
  in_doubt: {
    route: 'in-doubt',
    title: 'In doubt',
    means:
      'Two bodies may have been acknowledged for one address. Their shards take no appends until one of them is kept.',
  },
} as const;

function KeptList({ kind, count }: { readonly kind: keyof typeof KINDS; readonly count: number }) {
  const [shown, setShown] = useState(false);
  const live = useLive(
    (ask) =>
      ask<Readonly<Record<string, readonly Kept[]>>>(['buffer', KINDS[kind].route], { query: { limit: 1000 }, shown }),
    ONCE,
    `${kind} ${count} ${shown}`,
  );
  const list = live.data?.[kind] ?? [];
  return html`<h3>${KINDS[kind].title}: ${countText(count)}</h3>
    <p class="quiet">${KINDS[kind].means}</p>
    <${Freshness} live=${live} />
    <${Reveal} shown=${shown} onChange=${setShown} />
    ${table<Kept>({
      label: KINDS[kind].title,
      items: list,
      keyOf: ({ id }) => id,
      columns: [
        rowKeys('Row'),
        column('Column', '14ch', ({ column_name }) => visible(column_name)),
        column('Ref', '10ch', ({ ref_key }) => ref_key, { isNumber: true }),
        times('Buffered', ({ created_at }) => created_at),
        column('Body', '40ch', ({ body, hidden }) => (hidden ? 'hidden' : shortJson(body as Value, 200)), {
          gives: true,
        }),
        column('What to do', '14ch', (one) => keptAction(kind, one, live.again)),
      ],
    })}`;
}

function keptAction(kind: keyof typeof KINDS, { id, row_key, column_name, ref_key }: Kept, onDone: () => void) {
  const isConflict = kind === 'conflicts';
  const [verb, path] = isConflict ? ['Discard', 'discard'] : ['Keep this', 'keep'];
  const where = `${row_key}, ${visible(column_name)}, ${ref_key}`;
  return html`<${ActionButton}
    label=${verb}
    action=${{
      title: isConflict ? 'Discard the conflict' : 'Keep this body',
      operation: isConflict ? 'discardBufferConflicts' : 'keepWritesInDoubt',
      cli: ['buffer', KINDS[kind].route, path, id],
      word: path,
      foresee: async () => ({
        says: isConflict
          ? `The body of ${id} at ${where} is deleted permanently. The cell that is stored there stays.`
          : `The body of ${id} at ${where} is stored; the others at this address become conflicts.`,
      }),
      act: async ({ ask }: Doing) => {
        await ask(['buffer', KINDS[kind].route, path], { body: { ids: [id] } });
        return 'Done.';
      },
      onDone,
    }}
  />`;
}
