import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { MoveStatus } from '../../../../shared/api/moves.ts';
import { go, link, restate, useAddress } from '../address.ts';
import { unlessDenied, type Ask, type ShardHeads } from '../api.ts';
import { headsOf, rateOf, type Heads } from '../heads.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { CliLine, Freshness, NotForYou } from '../parts.ts';
import { column, links, table } from '../table.ts';
import { counted, countText } from '../text.ts';
import { MoveTable } from './moves.ts';
import { OneShard, type MappedShard } from './shard.ts';

export function ShardsScreen() {
  const { parts } = useAddress();
  const before = useRef<Heads>(undefined);
  const groups = useRef<readonly string[]>(undefined);
  const live = useLive(async (ask) => {
    const answer = await ask<ShardHeads>(['shards']);
    const now = headsOf(answer);
    const moves = await unlessDenied<{ readonly moves: readonly MoveStatus[] }>(ask(['moves']));
    groups.current ??= await groupNames(ask);
    const moving = new Set(moves?.moves.map(({ shard }) => shard));
    const shards = answer.shards.map(({ shard, group, error }) => ({
      shard,
      group,
      head: now.heads.get(shard),
      rate: rateOf(before.current, now, shard),
      error: error?.code,
      isMoving: moving.has(shard),
    }));
    before.current = now;
    return { shards, moves: moves?.moves ?? [], hidesMoves: moves === undefined, groups: groups.current };
  }, 4000);
  const [number] = parts;
  const chosen = number === undefined ? undefined : live.data?.shards.find(({ shard }) => String(shard) === number);
  return html`<h1>${number === undefined ? 'Shards' : html`<a href=${link(['shards'])}>Shards</a> / ${number}`}</h1>
    <${Freshness} live=${live} />
    ${live.data && number !== undefined && !chosen && html`<p>The datastore has no shard ${number}.</p>`}
    ${live.data && chosen && html`<${OneShard} shard=${chosen} groups=${live.data.groups} move=${live.data.moves.find(({ shard }) => shard === chosen.shard)} onDone=${live.again} />`}
    ${
      live.data &&
      number === undefined &&
      html`<${Map_} shards=${live.data.shards} groups=${live.data.groups} />
      <h2>Moves</h2>
      ${live.data.hidesMoves ? html`<${NotForYou} policy="movers" />` : html`<${MoveTable} moves=${live.data.moves} />`}
      <h2>All shards</h2><${ShardTable} shards=${live.data.shards} />
      <${CliLine} words=${['shards']} />`
    }`;
}

/** Returns all groups, also those without shards. */
async function groupNames(ask: Ask): Promise<readonly string[]> {
  const { groups } = await ask<{ groups: readonly { readonly group: string }[] }>('/v1/health');
  return groups.map(({ group }) => group).sort();
}

const MEASURES = {
  cells: { label: 'cells', value: ({ head }: MappedShard) => head, text: (value: number) => counted(value, 'cell') },
  rate: {
    label: 'rate',
    value: ({ rate }: MappedShard) => rate,
    text: (value: number) => `${value.toFixed(1)} cells/s`,
  },
} as const;

function Map_({ shards, groups }: { readonly shards: readonly MappedShard[]; readonly groups: readonly string[] }) {
  const { query } = useAddress();
  const by = query.get('by') === 'rate' ? 'rate' : 'cells';
  const { value, text } = MEASURES[by];
  const known = shards.map((shard) => value(shard) ?? 0);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return html`<div class="bar" role="group" aria-label="What the map shows">
      ${Object.entries(MEASURES).map(([name, { label }]) => html`<button type="button" aria-pressed=${by === name} onClick=${() => restate({ by: name })}>by ${label}</button>`)}
    </div>
    <p class="legend small">Each square is a shard: <span>${text(least)} <i class="scale"></i> ${text(most)}</span>
      <span><i class="moving"></i> moving</span> <span><i class="silent"></i> no answer</span></p>
    <div class="map">${groups.map((group) => html`<${GroupMap} key=${group} group=${group} shards=${shards.filter((one) => one.group === group)} by=${by} least=${least} most=${most} />`)}</div>`;
}

interface GroupMapProps {
  readonly group: string;
  readonly shards: readonly MappedShard[];
  readonly by: keyof typeof MEASURES;
  readonly least: number;
  readonly most: number;
}

const SQUARE_PX = 12;
const STRIDE_PX = 14;
/** Of the scale, each drawn by one path. */
const STEPS = 10;

/** Draws one picture for each group, with any number of shards. The table below has the same data. */
function GroupMap({ group, shards, by, least, most }: GroupMapProps) {
  const figure = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(320);
  const [pointed, setPointed] = useState<MappedShard>();
  const columns = Math.max(1, Math.floor(width / STRIDE_PX));
  const height = Math.max(1, Math.ceil(shards.length / columns)) * STRIDE_PX;
  const { label, value, text } = MEASURES[by];
  useEffect(() => {
    const resized = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 320));
    if (figure.current) resized.observe(figure.current);
    return () => resized.disconnect();
  }, []);
  const at = ({ clientX, clientY, currentTarget }: MouseEvent): MappedShard | undefined => {
    const { left, top } = (currentTarget as SVGElement).getBoundingClientRect();
    const column = Math.floor((clientX - left) / STRIDE_PX);
    return column < columns ? shards[Math.floor((clientY - top) / STRIDE_PX) * columns + column] : undefined;
  };
  const open = (shard: MappedShard | undefined): void => shard && go(link(['shards', shard.shard]));
  const paths = new Map<string, string>();
  for (const [position, shard] of shards.entries()) {
    const corner = `M${(position % columns) * STRIDE_PX} ${Math.floor(position / columns) * STRIDE_PX}`;
    const share = ((value(shard) ?? 0) - least) / Math.max(most - least, Number.MIN_VALUE);
    const kind = shard.error === undefined ? String(Math.round(share * STEPS)) : 'silent';
    paths.set(kind, `${paths.get(kind) ?? ''}${corner}h${SQUARE_PX}v${SQUARE_PX}h-${SQUARE_PX}z`);
    if (shard.isMoving) paths.set('moving', `${paths.get('moving') ?? ''}${corner}m1 1h10v10h-10z`);
  }
  const sum = shards.reduce((all, shard) => all + (value(shard) ?? 0), 0);
  const silent = shards.filter(({ error }) => error !== undefined).length;
  return html`<figure ref=${figure}>
    <figcaption><strong>${group}</strong> ${counted(shards.length, 'shard')}, ${text(sum)}${silent === 0 ? '' : html`, <span class="bad">${countText(silent)} do not answer</span>`}</figcaption>
    <svg width=${columns * STRIDE_PX} height=${height} role="img" aria-label=${`The shards of ${group} by ${label}`}
      onMouseMove=${(event: MouseEvent) => setPointed(at(event))} onMouseLeave=${() => setPointed(undefined)} onClick=${(event: MouseEvent) => open(at(event))}>
      ${[...paths].map(([kind, d]) => html`<path class=${kind} style=${{ '--share': `${(100 / STEPS) * Number(kind)}%` }} d=${d} />`)}
    </svg>
    <div class="small quiet pointed">${pointed ? `shard ${pointed.shard}: ${pointed.error ?? text(value(pointed) ?? 0)}` : ' '}</div>
  </figure>`;
}

function ShardTable({ shards }: { readonly shards: readonly MappedShard[] }) {
  const { query } = useAddress();
  const by = query.get('by') === 'rate' ? 'rate' : 'cells';
  const sorted = useMemo(
    () =>
      shards.toSorted(
        (one, other) => (MEASURES[by].value(other) ?? -1) - (MEASURES[by].value(one) ?? -1) || one.shard - other.shard,
      ),
    [shards, by],
  );
  return table<MappedShard>({
    label: `All shards, by ${MEASURES[by].label}`,
    items: sorted,
    keyOf: ({ shard }) => String(shard),
    columns: [
      links('Shard', '10ch', ({ shard }) => [shard, link(['shards', shard])], { isNumber: true }),
      column('Group', '14ch', ({ group }) => group),
      column('Cells', '16ch', ({ head, error }) => error ?? countText(head), { isNumber: true }),
      column('Cells/s', '10ch', ({ rate }) => (rate === undefined ? '–' : rate.toFixed(1)), { isNumber: true }),
      column('Move', '10ch', ({ isMoving }) => (isMoving ? 'moving' : '')),
    ],
  });
}
