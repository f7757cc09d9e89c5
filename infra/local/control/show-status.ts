import type { QueueStatus, StackStatus, TriggerState } from './status.ts';

export function showStatus({
  url,
  pid,
  engine,
  weight,
  nodes,
  functions,
  functionMode,
  functionLog,
  tailers,
  triggers,
  queues,
}: StackStatus): string {
  const servers = nodes.map((node) => [
    node.node,
    node.role,
    node.state,
    `${node.host}:${node.port}`,
    node.pid > 0 ? `pid ${node.pid}` : '',
  ]);
  const called = functions.map(({ title, instances, calls, failed }) => [
    title,
    `${instances.length} running`,
    `${counted(calls, 'call')}, ${failed} failed`,
    functionMode === 'process' ? instances.map((instance) => `pid ${instance.pid}`).join(' ') : '',
  ]);
  return [
    `${url}  ${engine}  pid ${pid}`,
    `memory: ${megabytes(weight.stackMemory)} and ${megabytes(weight.serverMemory)} of the servers; disk: ${megabytes(weight.disk)}`,
    '',
    ...table(servers),
    '',
    `functions in ${functionMode}, output in ${functionLog}`,
    ...table(called),
    ...(triggers.length > 0
      ? ['', `triggers, sent to by ${counted(tailers, 'tailer')}`, ...table(triggers.map(triggerRow))]
      : []),
    ...(queues.length > 0 ? ['', 'queues', ...table(queues.map(queueRow))] : []),
  ].join('\n');
}

function triggerRow({ datastore, trigger, summary }: TriggerState): readonly string[] {
  const name = `${datastore}/${trigger}`;
  if (!summary) return [name, 'not known: the API does not say', '', '', ''];
  const { state, reason, lag, parked } = summary;
  const uncounted = lag.unknown_shards === 0 ? '' : `, ${counted(lag.unknown_shards, 'shard')} not counted`;
  return [
    name,
    state,
    `${counted(lag.cells, 'cell')} behind, ${lag.seconds.toFixed(1)} s${uncounted}`,
    `${parked} parked`,
    reason ?? '',
  ];
}

function queueRow({ name, calls, callsNow, visible, held }: QueueStatus): readonly string[] {
  const content = visible === undefined || held === undefined ? 'SQS is away' : `${visible} waiting, ${held} held`;
  return [name, content, calls === undefined ? '' : `calls ${calls}, ${callsNow} now`];
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000).toLocaleString('en-US')} MB`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
