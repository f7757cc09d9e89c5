import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import { link, restate, useAddress } from '../address.ts';
import { apiPath, ask, Refused } from '../api.ts';
import type { ShownCell } from '../cells.ts';
import { shortJson } from '../exact-json.ts';
import { html } from '../html.ts';
import { Badge, CliLine, Reveal, Time, Trouble } from '../parts.ts';
import { parseShards } from '../parse-shards.ts';
import { useCli, usePage } from '../session.ts';
import { table } from '../table.ts';
import { counted, countText, visible } from '../text.ts';

/** So many are kept: who tails for a night has these, and is told of how many went by. */
const MOST_CELLS = 2000;
/** Of one request. */
const MOST_SHARDS = 1000;
const QUICK_MS = 1000;
const SLOW_MS = 5000;

/** What is written, as it comes. */
export function LogsScreen() {
  const { datastore } = usePage();
  const { query } = useAddress();
  const [shards, from] = [query.get('shards') ?? '', query.get('from') ?? 'now'];
  const cli = useCli(
    'tail',
    ...(/^\d+$/u.test(shards) ? [shards] : []),
    '-f',
    ...(from === 'now' ? [] : ['--from', from]),
  );
  return html`<h1>Logs</h1>
    <${Tail} key=${`${datastore} ${shards} ${from}`} shards=${shards} from=${from} />
    <${CliLine} line=${cli} />`;
}

interface Tailed {
  readonly cells: readonly ShownCell[];
  /** That came, and are not here any more. */
  readonly gone: number;
  readonly shards: number;
  readonly error: Refused | undefined;
  /** Shards that could not be read in the last look. */
  readonly silent: readonly string[];
}

const NOTHING: Tailed = { cells: [], gone: 0, shards: 0, error: undefined, silent: [] };

function Tail({ shards, from }: { readonly shards: string; readonly from: string }) {
  const { datastore } = usePage();
  const { query } = useAddress();
  const [column, row, find] = ['column', 'row', 'find'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const [shown, setShown] = useState(false);
  const [paused, setPaused] = useState(false);
  const tailed = useTail({ datastore, shards, from, shown, paused });
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
      <label>Column <input value=${column} size="12" onInput=${restating('column')} /></label>
      <label>Row begins with <input value=${row} size="12" onInput=${restating('row')} /></label>
      ${shown && html`<label>Body holds <input value=${find} size="12" onInput=${restating('find')} /></label>`}
      <button type="button" data-key="p" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>${paused ? 'Go on' : 'Pause'}</button>
      <${Reveal} shown=${shown} onChange=${setShown} />
    </div>
    <p class="quiet" role="status">${tailed.shards === 0 ? 'Looking where the logs end …' : says(tailed, cells.length, paused)}</p>
    ${tailed.error && html`<${Trouble} error=${tailed.error} />`}
    ${tailed.silent.length > 0 && html`<div class="trouble" role="status"><strong>Not read:</strong> ${tailed.silent.slice(0, 6).join('; ')}${tailed.silent.length > 6 ? ' …' : ''}. They go on where they were as soon as they answer.</div>`}
    ${cellTable(datastore, cells, shown)}`;
}

function says({ shards, gone, cells }: Tailed, matching: number, paused: boolean): string {
  const filtered = matching === cells.length ? '' : ` ${countText(matching)} fit the filter.`;
  const lost = gone === 0 ? '' : ` ${countText(gone)} came before these, and are not kept here.`;
  return `${paused ? 'Paused' : 'Tailing'} ${counted(shards, 'shard')}: ${counted(cells.length, 'cell')}.${filtered}${lost}`;
}

function restating(name: string) {
  return (event: InputEvent) => restate({ [name]: (event.target as HTMLInputElement).value });
}

function choose(event: SubmitEvent): void {
  event.preventDefault();
  const form = new FormData(event.target as HTMLFormElement);
  restate({ shards: String(form.get('shards')).trim(), from: String(form.get('from')).trim() || 'now' });
}

function cellTable(datastore: string, cells: readonly ShownCell[], shown: boolean) {
  return table<ShownCell>({
    label: 'Cells as they came',
    items: cells,
    follows: true,
    keyOf: ({ shard, added_id }) => `${shard}/${added_id}`,
    empty: 'Nothing yet.',
    columns: [
      { header: 'Stored (UTC)', value: ({ created_at }) => html`<${Time} at=${created_at} />`, width: '25ch' },
      { header: 'Place', value: ({ shard, added_id }) => `${shard}/${added_id}`, width: '14ch', isNumber: true },
      {
        header: 'Row',
        value: ({ row_key, added_id }) =>
          html`<a data-item href=${link(datastore, ['row', row_key], { at: added_id })}>${row_key}</a>`,
        width: '38ch',
      },
      { header: 'Column', value: (cell) => nameOf(cell), width: '16ch' },
      { header: 'Ref', value: ({ ref_key }) => ref_key, width: '9ch', isNumber: true },
      { header: 'Body', value: (cell) => bodyOf(cell, shown), width: '60ch' },
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
  readonly datastore: string;
  readonly shards: string;
  readonly from: string;
  readonly shown: boolean;
  readonly paused: boolean;
}

/** Reads on and on from where it was: an answer that is lost is asked for again, so that nothing is passed over. */
function useTail(tailing: Tailing): Tailed {
  const [state, setState] = useState<Tailed>(NOTHING);
  const now = useRef(tailing);
  now.current = tailing;
  useEffect(() => {
    const ended = new AbortController();
    void follow(() => now.current, ended.signal, setState);
    return () => ended.abort();
  }, []);
  return state;
}

type Change = (change: (before: Tailed) => Tailed) => void;

async function follow(tailing: () => Tailing, signal: AbortSignal, change: Change): Promise<void> {
  let places: Map<number, Location> | undefined;
  let [failures, pause] = [0, QUICK_MS];
  while (!signal.aborted) {
    if (!tailing().paused && !document.hidden) {
      try {
        places ??= await beginning(tailing(), signal);
        const known = places;
        const { cells, silent } = await readOn(known, tailing(), signal);
        failures = 0;
        pause = cells.length > 0 ? QUICK_MS : Math.min(SLOW_MS, pause * 1.5);
        change((before) => kept({ ...before, shards: known.size, silent, error: undefined }, cells));
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        pause = Math.min(10_000, 500 * 2 ** failures);
        const refused = error instanceof Refused ? error : new Refused(0, { detail: String(error) }, undefined);
        change((before) => ({ ...before, error: refused }));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** The oldest go first. */
function kept(before: Tailed, more: readonly ShownCell[]): Tailed {
  if (more.length === 0) return before;
  const all = [...before.cells, ...more];
  const tooMany = Math.max(0, all.length - MOST_CELLS);
  return { ...before, cells: tooMany === 0 ? all : all.slice(tooMany), gone: before.gone + tooMany };
}

type Location = { readonly shard: number } & ({ readonly after: number } | { readonly since: string });

async function beginning({ datastore, shards, from }: Tailing, signal: AbortSignal): Promise<Map<number, Location>> {
  const answer = await ask(apiPath(datastore, ['shards']), { signal });
  const heads = (answer as { readonly shards: readonly ShardHead[] }).shards;
  const wanted = parseShards(shards, heads.length);
  if (wanted === undefined)
    throw new Refused(
      0,
      { detail: `shards: wanted numbers below ${heads.length} and ranges such as 0-15,233, got ${shards}` },
      undefined,
    );
  const begin = (shard: number, head: ShardHead | undefined): Location => {
    if (from === 'start') return { shard, after: 0 };
    if (/^\d+$/u.test(from)) return { shard, after: Number(from) };
    if (from !== 'now') return { shard, since: from };
    // Of a shard that cannot be read now, what comes from now on is shown once it can be.
    return head === undefined || head.error ? { shard, since: new Date().toISOString() } : { shard, after: head.head };
  };
  return new Map(wanted.map((shard) => [shard, begin(shard, heads[shard])]));
}

type LogAnswer =
  | { readonly shard: number; readonly cells: readonly ShownCell[]; readonly next: number; readonly error?: undefined }
  | { readonly shard: number; readonly error: { readonly code: string; readonly group?: string } };

interface Read {
  readonly cells: readonly ShownCell[];
  readonly silent: readonly string[];
}

/** One look at each shard, whose places go on with what came. */
async function readOn(
  places: Map<number, Location>,
  { datastore, shown }: Tailing,
  signal: AbortSignal,
): Promise<Read> {
  const cells: ShownCell[] = [];
  const silent = new Map<string, number>();
  const all = [...places.values()];
  for (let at = 0; at < all.length; at += MOST_SHARDS) {
    const locations = all.slice(at, at + MOST_SHARDS);
    const limit = Math.max(1, Math.floor(MOST_SHARDS / locations.length));
    const body = { locations, limit };
    const { logs } = (await ask(apiPath(datastore, ['log']), { method: 'POST', body, signal, shown })) as {
      readonly logs: readonly LogAnswer[];
    };
    for (const log of logs) {
      if (log.error) {
        const why = `${log.error.group ?? `shard ${log.shard}`} (${log.error.code})`;
        silent.set(why, (silent.get(why) ?? 0) + 1);
        continue;
      }
      cells.push(...log.cells);
      if (log.cells.length > 0) places.set(log.shard, { shard: log.shard, after: log.next });
    }
  }
  cells.sort((one, other) => (one.created_at < other.created_at ? -1 : one.created_at > other.created_at ? 1 : 0));
  return { cells, silent: [...silent].map(([why, count]) => `${why}, ${counted(count, 'shard')}`) };
}
