import { useEffect, useMemo, useState } from 'preact/hooks';
import { ActionButton } from '../actions.ts';
import { link, restate, useAddress } from '../address.ts';
import type { Ask, Refused } from '../api.ts';
import { batchGet, isPathColumn, type ShownCell } from '../cells.ts';
import { collected, join, pagesOf } from '../feed.ts';
import { html, onValue } from '../html.ts';
import { ONCE, POLL_MS, useLive } from '../live.ts';
import { Badge, CliLine, Copied, Freshness, Reveal, Trouble } from '../parts.ts';
import { isDenied, usePage } from '../session.ts';
import { column, table, times } from '../table.ts';
import { counted, isRowKey, placeText, positionOf, visible } from '../text.ts';
import { OfTheCell } from './cell.ts';
import { eraseAction } from './erase.ts';
import { RowEntries } from './row-entries.ts';
import { RowTimeline } from './timeline.ts';

const MOST_VERSIONS = 10_000;
const PAGE = 1000;

export function RowScreen() {
  const { parts, query } = useAddress();
  const rowKey = (parts[0] ?? '').toLowerCase();
  if (!isRowKey(rowKey))
    return html`<h1>Rows</h1>
      ${
        rowKey !== '' &&
        html`<p role="status"><strong>${rowKey}</strong> is only the beginning of a row key, and a row is found by its whole key.
        See <a href=${link(['logs'], { row: rowKey, from: 'start' })}>cells in the logs</a> whose row key begins with it, or <a href=${link(['request', rowKey])}>the request</a> of this id.</p>`
      }
      <p>Search above ( <kbd>/</kbd> ) for a row key, a UUID such as <code>6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1</code>.</p>`;
  return html`<h1>Row <${Copied} text=${rowKey} /></h1>
    <${Row} key=${rowKey} rowKey=${rowKey} chosen=${query.get('column') ?? undefined} place=${query.get('at') ?? undefined} />
    <${CliLine} words=${['row', rowKey]} />`;
}

interface RowProps {
  readonly rowKey: string;
  readonly chosen: string | undefined;
  readonly place: string | undefined;
}

function Row({ rowKey, chosen, place }: RowProps) {
  const [shown, setShown] = useState(false);
  const latest = useLive((ask) => allColumns(rowKey, ask), POLL_MS, rowKey);
  const columns = latest.data ?? [];
  const names = chosen === undefined ? columns.slice(0, 8).map(({ column_name }) => column_name) : [chosen];
  const newest = names.map((name) => columns.find(({ column_name }) => column_name === name)?.ref_key ?? '').join();
  const history = useHistory(rowKey, names, `${names.join('\n')} ${newest}`);
  const cells = useMemo(() => history.cells.toSorted((one, other) => other.added_id - one.added_id), [history.cells]);
  const selected = cells.find(({ added_id }) => String(added_id) === place) ?? cells[0];
  if (latest.data?.length === 0)
    return html`<p>No cell of this row is stored. A write that was answered 202 may be buffered: see <a href=${link(['health'])}>health</a>.
        The text may also be the id of <a href=${link(['request', rowKey])}>a request</a>.</p>`;
  // A caller may have the right to erase without the right to read.
  const isUnseen = latest.data === undefined && latest.error !== undefined && isDenied(latest.error);
  return html`<${Freshness} live=${latest} />
    ${isUnseen && html`<div class="bar"><${ActionButton} label="Erase …" action=${eraseAction({ row_key: rowKey, column_name: chosen })} /></div>`}
    ${
      columns.length > 0 &&
      html`<div class="bar">
        <label>Columns <select data-key="c" value=${chosen ?? ''} onChange=${onValue((column) => restate({ column, at: undefined }))}>
          <option value="">${columns.length > 8 ? `the first 8 of ${columns.length}` : `all ${columns.length}`}</option>
          ${columns.map(({ column_name, ref_key }) => html`<option value=${column_name}>${visible(column_name)} (latest ${ref_key})</option>`)}
        </select></label>
        <${Reveal} shown=${shown} onChange=${setShown} />
        <${ActionButton} label="Erase …" action=${eraseAction({ row_key: rowKey, column_name: chosen })} />
        <span class="quiet">${counted(cells.length, 'cell')}${history.isWhole ? '' : history.error ? ' so far' : ', more are coming'}</span>
        ${history.isFull && html`<button type="button" onClick=${history.more}>Load more</button>`}
      </div>
      ${history.error && html`<${Trouble} error=${history.error} />`}
      <div class="split">
        <div>${selected && html`<${OfTheCell} cell=${selected} before=${before(cells, selected)} shown=${shown} />`}</div>
        <div>${cellTable(cells, names, selected)}<${RowTimeline} cells=${cells} names=${names} selected=${selected?.added_id} /></div>
      </div>
      <${RowEntries} rowKey=${rowKey} columns=${columns} shown=${shown} />`
    }
    <${CliLine} label="Its shard, group and SQL" words=${['explain', rowKey]} />`;
}

function before(cells: readonly ShownCell[], { column_name, ref_key }: ShownCell): ShownCell | undefined {
  let found: ShownCell | undefined;
  for (const cell of cells)
    if (cell.column_name === column_name && cell.ref_key < ref_key && cell.ref_key > (found?.ref_key ?? -1))
      found = cell;
  return found;
}

function cellTable(items: readonly ShownCell[], names: readonly string[], selected: ShownCell | undefined) {
  return table<ShownCell>({
    label: 'Cells, the last written first',
    items,
    keyOf: ({ added_id }) => String(added_id),
    isChosen: ({ added_id }) => added_id === selected?.added_id,
    columns: [
      column(
        'Position',
        '12ch',
        (cell) =>
          html`<button type="button" class="link" data-item onClick=${() => restate({ at: cell.added_id })}>${positionOf(cell)}</button>`,
        { isNumber: true },
      ),
      column(
        'Column',
        '15ch',
        ({ column_name }) =>
          html`<span class=${`lane lane-${names.indexOf(column_name) % 8}`}></span>${visible(column_name)}`,
      ),
      column('Ref', '7ch', ({ ref_key }) => ref_key, { isNumber: true }),
      times('Stored', ({ created_at }) => created_at),
      ...(items.some(({ transaction }) => transaction)
        ? [column<ShownCell>('Transaction', '13ch', ({ transaction }) => placeText(transaction))]
        : []),
      column('State', '11ch', ({ erased, error }) =>
        erased === true ? html`<${Badge} tone="warn">erased<//>` : error ? html`<${Badge} tone="bad">damaged<//>` : '',
      ),
    ],
  });
}

interface CellPage {
  readonly cells: readonly ShownCell[];
  readonly next: string | number | null;
}

function allColumns(rowKey: string, ask: Ask): Promise<readonly ShownCell[]> {
  return collected(pagesOf<CellPage>(ask, ['rows', rowKey]), ({ cells }) => cells);
}

interface History {
  readonly cells: readonly ShownCell[];
  readonly isWhole: boolean;
  /** Whether all that load without a click are here. */
  readonly isFull: boolean;
  readonly error: Refused | undefined;
  readonly more: () => void;
}

/** Loads the versions of some columns, page by page, the newest first, without bodies. */
function useHistory(rowKey: string, names: readonly string[], key: string): History {
  const { datastore } = usePage();
  const [state, setState] = useState<Omit<History, 'more'>>(NOTHING);
  const [most, setMost] = useState(MOST_VERSIONS);
  useEffect(() => {
    const load = async (ask: Ask): Promise<void> => {
      const cells: ShownCell[] = [];
      let isFull = false;
      for (const name of names)
        for await (const page of versions(rowKey, name, ask)) {
          cells.push(...page);
          isFull = cells.length >= most;
          setState({ cells: [...cells], isWhole: false, isFull, error: undefined });
          if (isFull) break;
        }
      setState({ cells: [...cells], isWhole: !isFull, isFull, error: undefined });
    };
    const { leave } = join({
      datastore,
      load,
      everyMs: ONCE,
      onData: () => undefined,
      onError: (error) => setState((loaded) => ({ ...loaded, error })),
    });
    return leave;
  }, [key, most]);
  return { ...state, more: () => setMost((before) => before + MOST_VERSIONS) };
}

const NOTHING = { cells: [], isWhole: false, isFull: false, error: undefined };

async function* versions(rowKey: string, name: string, ask: Ask): AsyncGenerator<readonly ShownCell[]> {
  if (!isPathColumn(name)) {
    // Its name fits into no path: only the latest cell can be read.
    const cells = await batchGet([{ row_key: rowKey, column_name: name }], ask);
    yield cells.filter((cell) => cell !== null);
    return;
  }
  const path = ['cells', rowKey, name, 'versions'];
  for await (const { cells } of pagesOf<CellPage>(ask, path, { limit: PAGE })) yield cells;
}
