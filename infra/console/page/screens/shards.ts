import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { MoveStatus } from '../../../../shared/api/moves.ts';
import { go, link, restate, useAddress } from '../address.ts';
import { unlessDenied, type Ask, type ShardHeads } from '../api.ts';
import { coloursNow } from '../colours.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { CliLine, Freshness, NotForYou } from '../parts.ts';
import { column, links, table } from '../table.ts';
import { counted, countText } from '../text.ts';
import { MoveTable } from './moves.ts';
import { OneShard, type MappedShard } from './shard.ts';

interface Looked {
  readonly shards: readonly MappedShard[];
  readonly moves: readonly MoveStatus[];
  readonly hidesMoves: boolean;
  readonly groups: readonly string[];
}

interface Before {
  readonly at: number;
  readonly heads: ReadonlyMap<number, number>;
  /** All that there are, also without shards. */
  readonly groups: readonly string[] | undefined;
}

const NOTHING: Before = { at: 0, heads: new Map(), groups: undefined };

export function ShardsScreen() {
  const { parts } = useAddress();
  const before = useRef(NOTHING);
  const live = useLive(async (ask) => {
    const { looked, next } = await look(before.current, ask);
    before.current = next;
    return looked;
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
      <h2>All shards</h2><${ShardTable} shards=${live.data.shards} />`
    }
    <${CliLine} words=${['shards']} />`;
}

async function look(before: Before, ask: Ask): Promise<{ readonly looked: Looked; readonly next: Before }> {
  const answer = await ask<ShardHeads>(['shards']);
  const at = performance.now();
  const moves = await unlessDenied<{ readonly moves: readonly MoveStatus[] }>(ask(['moves']));
  const groups = before.groups ?? (await groupNames(ask));
  const moving = new Set(moves?.moves.map(({ shard }) => shard));
  const seconds = (at - before.at) / 1000;
  const shards = answer.shards.map((one): MappedShard => {
    const [earlier, head] = [before.heads.get(one.shard), one.error ? undefined : one.head];
    const rate = earlier === undefined || head === undefined ? undefined : Math.max(0, head - earlier) / seconds;
    return {
      shard: one.shard,
      group: one.group,
      head,
      rate,
      error: one.error?.code,
      isMoving: moving.has(one.shard),
    };
  });
  const heads = new Map(
    shards.flatMap(({ shard, head }): [number, number][] => (head === undefined ? [] : [[shard, head]])),
  );
  return {
    looked: { shards, moves: moves?.moves ?? [], hidesMoves: moves === undefined, groups },
    next: { at, heads, groups },
  };
}

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
  const most = Math.max(1, ...shards.map((shard) => value(shard) ?? 0));
  return html`<div class="bar" role="group" aria-label="What the map shows">
      ${Object.entries(MEASURES).map(([name, { label }]) => html`<button type="button" aria-pressed=${by === name} onClick=${() => restate({ by: name })}>by ${label}</button>`)}
    </div>
    <p class="quiet small">Each square is a shard: the darker, the more; the darkest has ${text(most)}. Framed ones are moving, hatched ones do not answer.</p>
    <div class="map">${groups.map((group) => html`<${GroupMap} key=${group} group=${group} shards=${shards.filter((one) => one.group === group)} by=${by} most=${most} />`)}</div>`;
}

interface GroupMapProps {
  readonly group: string;
  readonly shards: readonly MappedShard[];
  readonly by: keyof typeof MEASURES;
  readonly most: number;
}

const SQUARE_PX = 12;
const GAP_PX = 2;
const STRIDE_PX = SQUARE_PX + GAP_PX;

/** One picture for each group, however many shards it holds. The table below says the same in words. */
function GroupMap({ group, shards, by, most }: GroupMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(320);
  const [pointed, setPointed] = useState<MappedShard>();
  const columns = Math.max(1, Math.floor(width / STRIDE_PX));
  const rows = Math.max(1, Math.ceil(shards.length / columns));
  const { value, text } = MEASURES[by];
  useEffect(() => {
    const holder = canvas.current?.parentElement;
    if (!holder) return undefined;
    const resized = new ResizeObserver(() => setWidth(holder.clientWidth));
    resized.observe(holder);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current) draw(canvas.current, { shards, columns, rows, value, most });
  }, [shards, columns, rows, by, most]);
  const at = (event: MouseEvent): MappedShard | undefined => {
    const column = Math.floor(event.offsetX / STRIDE_PX);
    return column < columns ? shards[Math.floor(event.offsetY / STRIDE_PX) * columns + column] : undefined;
  };
  const sum = shards.reduce((all, shard) => all + (value(shard) ?? 0), 0);
  const silent = shards.filter(({ error }) => error !== undefined).length;
  return html`<figure>
    <figcaption><strong>${group}</strong> ${counted(shards.length, 'shard')}, ${text(sum)}${silent === 0 ? '' : html`, <span class="bad">${countText(silent)} do not answer</span>`}</figcaption>
    <canvas ref=${canvas} role="img" aria-label=${`The shards of ${group} by ${MEASURES[by].label}`}
      onMouseMove=${(event: MouseEvent) => setPointed(at(event))}
      onMouseLeave=${() => setPointed(undefined)}
      onClick=${(event: MouseEvent) => {
        const shard = at(event);
        if (shard) go(link(['shards', shard.shard]));
      }}></canvas>
    <div class="small quiet pointed">${pointed ? `shard ${pointed.shard}: ${pointed.error ?? text(value(pointed) ?? 0)}` : ' '}</div>
  </figure>`;
}

interface Drawing {
  readonly shards: readonly MappedShard[];
  readonly columns: number;
  readonly rows: number;
  readonly value: (shard: MappedShard) => number | undefined;
  readonly most: number;
}

function draw(canvas: HTMLCanvasElement, { shards, columns, rows, value, most }: Drawing): void {
  const ratio = devicePixelRatio;
  const [width, height] = [columns * STRIDE_PX, rows * STRIDE_PX];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(ratio, ratio);
  const { blue, bad: red, line, orange } = coloursNow('blue', 'bad', 'line', 'orange');
  for (const [position, shard] of shards.entries()) {
    const [x, y] = [(position % columns) * STRIDE_PX, Math.floor(position / columns) * STRIDE_PX];
    context.globalAlpha = 1;
    context.fillStyle = line;
    context.fillRect(x, y, SQUARE_PX, SQUARE_PX);
    if (shard.error === undefined) {
      const share = (value(shard) ?? 0) / most;
      context.globalAlpha = share === 0 ? 0 : 0.15 + 0.85 * Math.sqrt(share);
      context.fillStyle = blue;
      context.fillRect(x, y, SQUARE_PX, SQUARE_PX);
      context.globalAlpha = 1;
    } else {
      context.strokeStyle = red;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x, y + SQUARE_PX);
      context.lineTo(x + SQUARE_PX, y);
      context.stroke();
    }
    if (!shard.isMoving) continue;
    context.strokeStyle = orange;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, SQUARE_PX - 2, SQUARE_PX - 2);
  }
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
