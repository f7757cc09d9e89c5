import { useRef } from 'preact/hooks';
import type { GroupBuffer } from '../../../../shared/api/buffer.ts';
import type { GroupHealth, NodeHealth } from '../../../../shared/api/service.ts';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import { unlessDenied, type Ask, type ShardHeads } from '../api.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, CliLine, Freshness } from '../parts.ts';
import { column, counts, table } from '../table.ts';
import { counted, countText, durationText, visible } from '../text.ts';
import { KeptWrites } from './kept-writes.ts';

interface Health {
  readonly status: 'ok' | 'degraded' | 'down';
  readonly version: string;
  readonly instance: string;
  readonly groups: readonly GroupHealth[];
}

interface LogHeads {
  readonly heads: readonly ShardHead[];
  readonly readerHeads: readonly ShardHead[];
}

interface Looked extends LogHeads {
  readonly health: Health;
  /** None where the caller may not see them. */
  readonly buffers: readonly GroupBuffer[];
}

const HEALTH_MS = 2000;
const BUFFERS_MS = 4000;
/** Asked for less often: of thousands of shards they are work. */
const HEADS_MS = 10_000;
const NO_HEADS: LogHeads = { heads: [], readerHeads: [] };

async function logHeads(ask: Ask): Promise<LogHeads> {
  const of = async (read: 'writer' | 'reader'): Promise<readonly ShardHead[]> =>
    (await unlessDenied<ShardHeads>(ask(['shards'], { query: { read } })))?.shards ?? [];
  const readerHeads = await of('reader');
  return { heads: await of('writer'), readerHeads };
}

const MOST_INSTANCES = 12;

export function HealthScreen() {
  const instances = useRef<readonly Health[]>([]);
  // Apart, so that the groups are there first.
  const live = useLive(async (ask) => {
    const health = await ask<Health>('/v1/health');
    const others = instances.current.filter(({ instance }) => instance !== health.instance);
    instances.current = [health, ...others].slice(0, MOST_INSTANCES);
    return health;
  }, HEALTH_MS);
  const buffers = useLive(
    async (ask) => (await unlessDenied<{ groups: readonly GroupBuffer[] }>(ask(['buffer'])))?.groups ?? [],
    BUFFERS_MS,
  );
  const logs = useLive(logHeads, HEADS_MS);
  const looked = live.data && { health: live.data, buffers: buffers.data ?? [], ...(logs.data ?? NO_HEADS) };
  return html`<h1>Health</h1>
    <${Freshness} live=${live} />
    ${
      looked &&
      html`<p role="status">
        <${Badge} tone=${looked.health.status === 'ok' ? 'good' : looked.health.status === 'down' ? 'bad' : 'warn'}>${looked.health.status}<//>
        ${' '}${whatIsWrong(looked)}
      </p>
      ${[buffers, logs].map((one) => one.error && html`<${Freshness} live=${one} />`)}
      <h2>Groups</h2>
      ${groupTable(looked, instances.current)}
      <h2>Writes that are kept aside</h2>
      <${KeptWrites} counts=${looked.buffers} />
      <p class="quiet small">Schemaless ${looked.health.version}. Each instance of a function looks for itself;
        ${instances.current.length === 1 ? ' one has answered' : ` ${instances.current.length} have answered`} so far.</p>`
    }
    <${CliLine} words=${['ping']} />`;
}

/** One sentence for who was woken by it. */
function whatIsWrong({ health, buffers }: Looked): string {
  const down = health.groups.flatMap(({ group, writer, reader }) => {
    const [writes, reads] = [writer.state === 'up', reader.state === 'up'];
    if (!writes && !reads) return [`nothing of ${group} answers: writes for its shards are buffered, its cells wait`];
    if (!writes) return [`the writer of ${group} does not answer: writes for its shards are buffered`];
    return reads ? [] : [`the readers of ${group} do not answer: its writer is read`];
  });
  const waiting = buffers.reduce((sum, one) => sum + ('error' in one ? 0 : one.rows), 0);
  const parts = [
    ...down,
    ...(waiting > 0 ? [`${counted(waiting, 'write')} ${waiting === 1 ? 'waits' : 'wait'} for the primary`] : []),
    ...(buffers.some((one) => !('error' in one) && one.undecided > 0)
      ? ['some writes wait for your word (undecided, below)']
      : []),
  ];
  if (parts.length === 0) return 'Every node answers, and nothing waits.';
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

interface GroupRow {
  readonly health: GroupHealth;
  readonly buffer: GroupBuffer | undefined;
  /** Null where it is not known. */
  readonly shards: number | null;
  readonly behind: string;
  readonly openAt: number;
}

function groupTable(data: Looked, instances: readonly Health[]) {
  const readers = new Map(data.readerHeads.map((one) => [one.shard, one]));
  const rows = data.health.groups.map((health): GroupRow => {
    const own = data.heads.filter(({ group }) => group === health.group);
    return {
      health,
      buffer: data.buffers.find(({ group }) => group === health.group),
      shards: data.heads.length === 0 ? null : own.length,
      behind: readersBehind(own, readers, health.reader),
      openAt: instances.filter(({ groups }) =>
        groups.some(
          ({ group, writer, reader }) =>
            group === health.group && [writer, reader].some(({ circuit }) => circuit === 'open'),
        ),
      ).length,
    };
  });
  return table<GroupRow>({
    label: 'Groups',
    items: rows,
    keyOf: ({ health }) => health.group,
    columns: [
      column('Group', '12ch', ({ health }) => health.group),
      counts('Shards', '9ch', ({ shards }) => shards),
      column('Writer', '17ch', ({ health }) => node(health.writer)),
      column('Readers', '17ch', ({ health: { reader } }) => (reader.served_by === 'writer' ? 'none' : node(reader))),
      column('Readers are behind', '18ch', ({ behind }) => behind),
      column('Circuits open', '15ch', ({ openAt }) => (openAt === 0 ? 'none' : `at ${counted(openAt, 'instance')}`)),
      column('It holds for others', '30ch', ({ buffer }) => bufferText(buffer), { gives: true }),
      column('Error', '40ch', ({ health }) => visible(health.writer.error ?? health.reader.error ?? ''), {
        gives: true,
      }),
    ],
  });
}

/** By the places that both show: what a reader lacks of its writer. */
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
  return cells === 0 ? 'no' : counted(cells, 'cell');
}

function node({ state, milliseconds, circuit }: NodeHealth) {
  return html`<${Badge} tone=${state === 'up' ? 'good' : 'bad'}>${state}<//>
    ${state === 'up' ? ` ${milliseconds.toFixed(1)} ms` : ''}${circuit === 'open' ? ' circuit open' : ''}`;
}

function bufferText(buffer: GroupBuffer | undefined): string {
  if (!buffer) return '–';
  if ('error' in buffer) return `cannot be asked: ${buffer.error.code}`;
  const { rows, oldest_age: age, parked, conflicts, undecided } = buffer;
  const parts = [
    rows > 0 ? `${counted(rows, 'write')}, the oldest ${durationText(age)} old` : '',
    parked > 0 ? `${countText(parked)} failed` : '',
    conflicts > 0 ? counted(conflicts, 'conflict') : '',
    undecided > 0 ? `${countText(undecided)} undecided` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
