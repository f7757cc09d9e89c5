import type { StackStatus } from './commands.ts';

/** A running stack, as text for people. */
export function showStatus({ url, pid, engine, nodes, functions, functionMode, functionLog }: StackStatus): string {
  const servers = nodes.map((node) => [node.node, node.role, node.state, `${node.host}:${node.port}`, node.pid > 0 ? `pid ${node.pid}` : '']);
  const called = functions.map(({ title, instances }) => [title, `${instances.length} running`, functionMode === 'process' ? instances.map((instance) => `pid ${instance.pid}`).join(' ') : '']);
  return [
    `${url}  ${engine}  pid ${pid}`,
    '',
    ...table(servers),
    '',
    `functions in ${functionMode}, output in ${functionLog}`,
    ...table(called),
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd());
}
