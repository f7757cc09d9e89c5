import type { GroupBuffer } from '../../../../shared/api/buffer.ts';
import type { GroupHealth, NodeHealth } from '../../../../shared/api/service.ts';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import { unlessDenied, type Ask, type ShardHeads } from '../api.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, CliLine, Freshness } from '../parts.ts';
import { column, counts, table } from '../table.ts';
import { counted, countedAre, countText, durationText, visible } from '../text.ts';
import { KeptWrites } from './kept-writes.ts';

export interface Health {
  readonly status: 'ok' | 'degraded' | 'down';
  readonly version: string;
  readonly groups: readonly GroupHealth[];
}

type LogHeads = Awaited<ReturnType<typeof logHeads>>;

interface Fetched extends LogHeads {
  readonly health: Health;
  /** Empty if the caller may not see them. */
  readonly buffers: readonly GroupBuffer[];
}

const HEALTH_MS = 2000;
const BUFFERS_MS = 4000;
/** Polled less often: thousands of shards are expensive. */
const HEADS_MS = 10_000;
const NO_HEADS: LogHeads = { heads: [], readerHeads: [] };

async function logHeads(ask: Ask) {
  const of = async (read: 'writer' | 'reader'): Promise<readonly ShardHead[]> =>
    (await unlessDenied<ShardHeads>(ask(['shards'], { query: { read } })))?.shards ?? [];
  const readerHeads = await of('reader');
  return { heads: await of('writer'), readerHeads };
}

export function HealthScreen() {
  // Separate, so that the groups appear first.
  const live = useLive((ask) => ask<Health>('/v1/health'), HEALTH_MS);
  const buffers = useLive(
    async (ask) => (await unlessDenied<{ groups: readonly GroupBuffer[] }>(ask(['buffer'])))?.groups ?? [],
    BUFFERS_MS,
  );
  const logs = useLive(logHeads, HEADS_MS);
  const fetched = live.data && { health: live.data, buffers: buffers.data ?? [], ...(logs.data ?? NO_HEADS) };
  return html`<h1>Health</h1>
    <${Freshness} live=${live} />
    ${
      fetched &&
      html`<p role="status">
        <${StatusBadge} health=${fetched.health} />
        ${' '}${whatIsWrong(fetched)}
      </p>
      ${[buffers, logs].map((one) => one.error && html`<${Freshness} live=${one} />`)}
      <h2>Groups</h2>
      ${groupTable(fetched)}
      <h2>Conflicts and writes in doubt</h2>
      <${KeptWrites} counts=${fetched.buffers} />
      <p class="quiet small">Schemaless ${fetched.health.version}. Each instance of a function checks the nodes itself.</p>`
    }
    <${CliLine} words=${['ping']} />`;
}

export function StatusBadge({ health: { status } }: { readonly health: Health }) {
  return html`<${Badge} tone=${status === 'ok' ? 'good' : status === 'down' ? 'bad' : 'warn'}>${status}<//>`;
}

/** Returns a clause for each group with a node that does not answer. */
export function downGroups({ groups }: Health): readonly string[] {
  return groups.flatMap(({ group, writer, reader }) => {
    const [writes, reads] = [writer.state === 'up', reader.state === 'up'];
    if (!writes && !reads) return [`Nothing of ${group} answers: writes for its shards are buffered, reads fail`];
    if (!writes) return [`The writer of ${group} does not answer: writes for its shards are buffered`];
    return reads ? [] : [`The readers of ${group} do not answer: its writer serves reads`];
  });
}

/** Returns one sentence for an operator who was woken. */
function whatIsWrong({ health, buffers }: Fetched): string {
  const waiting = buffers.reduce((sum, one) => sum + ('error' in one ? 0 : one.rows), 0);
  const parts = [
    ...downGroups(health),
    ...(waiting > 0 ? [`${countedAre(waiting, 'write')} buffered until the primary shows them`] : []),
    ...(buffers.some((one) => !('error' in one) && one.in_doubt > 0)
      ? ['some writes in doubt wait for your decision, see below']
      : []),
  ];
  return parts.length === 0 ? 'Every node answers, and nothing waits.' : `${parts.join('; ')}.`;
}

interface GroupRow {
  readonly health: GroupHealth;
  readonly buffer: GroupBuffer | undefined;
  /** Null if unknown. */
  readonly shards: number | null;
  readonly behind: string;
}

function groupTable(data: Fetched) {
  const readers = new Map(data.readerHeads.map((one) => [one.shard, one]));
  const rows = data.health.groups.map((health): GroupRow => {
    const own = data.heads.filter(({ group }) => group === health.group);
    return {
      health,
      buffer: data.buffers.find(({ group }) => group === health.group),
      shards: data.heads.length === 0 ? null : own.length,
      behind: readersBehind(own, readers, health.reader),
    };
  });
  return table<GroupRow>({
    label: 'Groups',
    items: rows,
    keyOf: ({ health }) => health.group,
    columns: [
      column('Group', '12ch', ({ health }) => health.group),
      counts('Shards', '9ch', ({ shards }) => shards),
      column('Writer', '21ch', ({ health }) => node(health.writer)),
      column('Readers', '21ch', ({ health: { reader } }) => (reader.served_by === 'writer' ? 'none' : node(reader))),
      column('Reader lag', '12ch', ({ behind }) => behind),
      column('Buffered', '34ch', ({ buffer }) => bufferText(buffer), { gives: true }),
      column('Error', '40ch', ({ health }) => visible(health.writer.error ?? health.reader.error ?? ''), {
        gives: true,
      }),
    ],
  });
}

/** Returns the cells that a reader lacks, by the heads of both. */
function readersBehind(
  own: readonly ShardHead[],
  readers: ReadonlyMap<number, ShardHead>,
  { state, served_by }: NodeHealth,
): string {
  if (state === 'down' || served_by === 'writer') return '–';
  let cells = 0;
  for (const head of own) {
    const reader = readers.get(head.shard);
    if (head.error || !reader || reader.error) continue;
    cells += Math.max(0, head.head - reader.head);
  }
  return cells === 0 ? '0' : counted(cells, 'cell');
}

function node({ state, milliseconds, circuit }: NodeHealth) {
  return html`<${Badge} tone=${state === 'up' ? 'good' : 'bad'}>${state}<//>
    ${state === 'up' ? ` ${milliseconds.toFixed(1)} ms` : ''} ${circuit === 'open' && html`<${Badge} tone="warn">circuit open<//>`}`;
}

function bufferText(buffer: GroupBuffer | undefined): string {
  if (!buffer) return '–';
  if ('error' in buffer) return `does not answer: ${buffer.error.code}`;
  const { rows, oldest_age: age, parked, conflicts, in_doubt } = buffer;
  const parts = [
    rows > 0 ? `${counted(rows, 'write')}, the oldest ${durationText(age)} old` : '',
    parked > 0 ? `${countText(parked)} failed` : '',
    conflicts > 0 ? counted(conflicts, 'conflict') : '',
    in_doubt > 0 ? `${countText(in_doubt)} in doubt` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
