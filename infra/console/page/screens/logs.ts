import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import { restate, useAddress } from '../address.ts';
import { Refused, type Ask, type ShardHeads } from '../api.ts';
import type { ShownCell } from '../cells.ts';
import { shortJson } from '../exact-json.ts';
import { join } from '../feed.ts';
import { html, onValue } from '../html.ts';
import { POLL_MS } from '../live.ts';
import { parseShards } from '../parse-shards.ts';
import { Badge, CliLine, Reveal, Trouble } from '../parts.ts';
import { usePage } from '../session.ts';
import { column, rowKeys, table, times } from '../table.ts';
import { counted, countText, positionOf, visible } from '../text.ts';

/** The most cells that a tail keeps; it counts the ones that it dropped. */
const MOST_CELLS = 2000;
const MOST_SHARDS = 1000;

export function LogsScreen() {
  const { query } = useAddress();
  const [shards, from] = [query.get('shards') ?? '', query.get('from') ?? 'now'];
  const words = ['tail', ...(/^\d+$/u.test(shards) ? [shards] : []), '-f', ...(from === 'now' ? [] : ['--from', from])];
  return html`<h1>Logs</h1>
    <${Tail} key=${`${shards} ${from}`} shards=${shards} from=${from} />
    <${CliLine} words=${words} />`;
}

interface Tailed {
  readonly cells: readonly ShownCell[];
  readonly gone: number;
  readonly shards: number;
  readonly error: Refused | undefined;
  /** Shards that the last poll could not read. */
  readonly silent: readonly string[];
}

const NOTHING: Tailed = { cells: [], gone: 0, shards: 0, error: undefined, silent: [] };

function Tail({ shards, from }: { readonly shards: string; readonly from: string }) {
  const { query } = useAddress();
  const [column = '', row = '', find = ''] = ['column', 'row', 'find'].map((name) => query.get(name) ?? '');
  const [shown, setShown] = useState(false);
  const [paused, setPaused] = useState(false);
  const tailed = useTail({ shards, from, shown, paused });
  const cells = tailed.cells.filter(
    (cell) =>
      (column === '' || cell.column_name === column) &&
      cell.row_key.startsWith(row.toLowerCase()) &&
      (find === '' || !shown || shortJson(cell.body, 20_000).includes(find)),
  );
  return html`<form class="bar" onSubmit=${choose}>
      <label>Shards <input name="shards" value=${shards} placeholder="all, or 0-15,233" size="14" /></label>
      <label>From <input name="from" value=${from} title="now, start, a time, or an added id" size="22" /></label>
      <button>Tail</button>
    </form>
    <div class="bar">
      <label>Column <input value=${column} size="12" onInput=${onValue((value) => restate({ column: value }))} /></label>
      <label>Row begins with <input value=${row} size="12" onInput=${onValue((value) => restate({ row: value }))} /></label>
      ${shown && html`<label>Body holds <input value=${find} size="12" onInput=${onValue((value) => restate({ find: value }))} /></label>`}
      <button type="button" data-key="p" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>${paused ? 'Go on' : 'Pause'}</button>
      <${Reveal} shown=${shown} onChange=${setShown} />
    </div>
    <p class="quiet" role="status">${tailed.shards === 0 ? 'Reading the ends of the logs …' : says(tailed, cells.length, paused)}</p>
    ${tailed.error && html`<${Trouble} error=${tailed.error} />`}
    ${tailed.silent.length > 0 && html`<div class="trouble" role="status"><strong>Not read:</strong> ${tailed.silent.slice(0, 6).join('; ')}${tailed.silent.length > 6 ? ' …' : ''}. They continue from their offsets when they answer.</div>`}
    ${cellTable(cells, shown)}`;
}

function says({ shards, gone, cells }: Tailed, matching: number, paused: boolean): string {
  const filtered = matching === cells.length ? '' : ` ${countText(matching)} fit the filter.`;
  const lost = gone === 0 ? '' : ` ${countText(gone)} earlier ones were dropped.`;
  return `${paused ? 'Paused' : 'Tailing'} ${counted(shards, 'shard')}: ${counted(cells.length, 'cell')}.${filtered}${lost}`;
}

function choose(event: SubmitEvent): void {
  event.preventDefault();
  const form = new FormData(event.target as HTMLFormElement);
  restate({ shards: String(form.get('shards')).trim(), from: String(form.get('from')).trim() || 'now' });
}

function cellTable(cells: readonly ShownCell[], shown: boolean) {
  return table<ShownCell>({
    label: 'Cells as they came',
    items: cells,
    follows: true,
    keyOf: positionOf,
    empty: 'Nothing yet.',
    columns: [
      times('Stored', ({ created_at }) => created_at),
      column('Position', '14ch', positionOf, { isNumber: true }),
      rowKeys('Row', ({ added_id }) => ({ at: added_id })),
      column('Column', '16ch', (cell) => nameOf(cell)),
      column('Ref', '9ch', ({ ref_key }) => ref_key, { isNumber: true }),
      column('Body', '75ch', (cell) => bodyOf(cell, shown), { gives: true }),
    ],
  });
}

function nameOf({ column_name, erasure }: ShownCell) {
  return erasure ? html`<${Badge} tone="warn">erasure<//> ${visible(column_name)}` : visible(column_name);
}

function bodyOf({ erased, error, erasure, body, hidden }: ShownCell, shown: boolean) {
  if (erasure) return `of the ${erasure.scope}`;
  if (erased === true) return html`<${Badge} tone="warn">erased<//>`;
  if (error) return html`<${Badge} tone="bad">${error.code}<//>`;
  if (hidden || !shown) return html`<span class="quiet">hidden</span>`;
  return visible(shortJson(body, 240));
}

interface Tailing {
  readonly shards: string;
  readonly from: string;
  readonly shown: boolean;
  readonly paused: boolean;
}

/** Continues from its offsets: a lost answer is requested again, so that no cell is skipped. */
function useTail(tailing: Tailing): Tailed {
  const [state, setState] = useState<Tailed>(NOTHING);
  const places = useRef<Places>(undefined);
  const { datastore } = usePage();
  const { shards, from, shown, paused } = tailing;
  useEffect(() => {
    if (paused) return undefined;
    const { leave } = join({
      datastore,
      load: async (ask) => readOn((places.current ??= await beginning(tailing, ask)), tailing, ask),
      everyMs: POLL_MS,
      onData: ({ cells, silent, next }) => {
        places.current = next;
        setState((before) => kept({ ...before, shards: next.size, silent, error: undefined }, cells));
      },
      onError: (error) => setState((before) => ({ ...before, error })),
    });
    return leave;
  }, [shards, from, shown, paused]);
  return state;
}

function kept(before: Tailed, more: readonly ShownCell[]): Tailed {
  if (more.length === 0) return before;
  const all = [...before.cells, ...more];
  const tooMany = Math.max(0, all.length - MOST_CELLS);
  return { ...before, cells: tooMany === 0 ? all : all.slice(tooMany), gone: before.gone + tooMany };
}

type Places = ReadonlyMap<number, Location>;
type Location = { readonly shard: number } & ({ readonly after: number } | { readonly since: string });

async function beginning({ shards, from }: Tailing, ask: Ask): Promise<Places> {
  const { shards: heads } = await ask<ShardHeads>(['shards']);
  const wanted = parseShards(shards, heads.length);
  if (wanted === undefined)
    throw new Refused(0, {
      detail: `shards: wanted numbers below ${heads.length} and ranges such as 0-15,233, got ${shards}`,
    });
  const begin = (shard: number, head: ShardHead | undefined): Location => {
    if (from === 'start') return { shard, after: 0 };
    if (/^\d+$/u.test(from)) return { shard, after: Number(from) };
    if (from !== 'now') return { shard, since: from };
    // An unreadable shard later shows its cells from now on.
    return head === undefined || head.error ? { shard, since: new Date().toISOString() } : { shard, after: head.head };
  };
  return new Map(wanted.map((shard) => [shard, begin(shard, heads[shard])]));
}

type LogAnswer =
  | { readonly shard: number; readonly cells: readonly ShownCell[]; readonly next: number; readonly error?: undefined }
  | { readonly shard: number; readonly error: { readonly code: string; readonly group?: string } };

async function readOn(places: Places, { shown }: Tailing, ask: Ask) {
  const cells: ShownCell[] = [];
  const silent = new Map<string, number>();
  const next = new Map(places);
  const all = [...places.values()];
  for (let at = 0; at < all.length; at += MOST_SHARDS) {
    const locations = all.slice(at, at + MOST_SHARDS);
    const limit = Math.max(1, Math.floor(MOST_SHARDS / locations.length));
    const { logs } = await ask<{ logs: readonly LogAnswer[] }>(['log'], { body: { locations, limit }, shown });
    for (const log of logs) {
      if (log.error) {
        const why = `${log.error.group ?? `shard ${log.shard}`} (${log.error.code})`;
        silent.set(why, (silent.get(why) ?? 0) + 1);
        continue;
      }
      cells.push(...log.cells);
      if (log.cells.length > 0) next.set(log.shard, { shard: log.shard, after: log.next });
    }
  }
  cells.sort((one, other) => (one.created_at < other.created_at ? -1 : one.created_at > other.created_at ? 1 : 0));
  return { cells, next, silent: [...silent].map(([why, count]) => `${why}, ${counted(count, 'shard')}`) };
}
