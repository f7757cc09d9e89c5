import { buildProgram, runProgram, type CommandOf } from './cli.ts';
import { addCompletion } from './completion.ts';
import { api } from './commands/api.ts';
import { applyCommand } from './commands/apply.ts';
import { buffer } from './commands/buffer.ts';
import { checkCommand } from './commands/check.ts';
import { clone } from './commands/clone.ts';
import { consoleCommand } from './commands/console.ts';
import { deleteCommand } from './commands/delete.ts';
import { digest } from './commands/digest.ts';
import { erase } from './commands/erase.ts';
import { erasure, erasures } from './commands/erasures.ts';
import { forget, forgotten } from './commands/forget.ts';
import { explain } from './commands/explain.ts';
import { get } from './commands/get.ts';
import { latest } from './commands/latest.ts';
import { move } from './commands/move.ts';
import { parked } from './commands/parked.ts';
import { ping } from './commands/ping.ts';
import { profile } from './commands/profile.ts';
import { put } from './commands/put.ts';
import { query } from './commands/query.ts';
import { rebalance } from './commands/rebalance.ts';
import { retention } from './commands/retention.ts';
import { row } from './commands/row.ts';
import { shards } from './commands/shards.ts';
import { tail } from './commands/tail.ts';
import { triggers } from './commands/triggers.ts';
import { verifyIndex } from './commands/verify-index.ts';
import { versions } from './commands/versions.ts';
import { compareCommand } from './files/compare-command.ts';
import { exportCommand } from './files/export-command.ts';
import { importCommand } from './files/import-command.ts';

const COMMANDS: readonly CommandOf[] = [
  put,
  get,
  latest,
  versions,
  row,
  query,
  tail,
  shards,
  rebalance,
  digest,
  explain,
  triggers,
  parked,
  buffer,
  move,
  erase,
  erasures,
  erasure,
  retention,
  forget,
  forgotten,
  importCommand,
  exportCommand,
  compareCommand,
  clone,
  api,
  verifyIndex,
  checkCommand,
  applyCommand,
  deleteCommand,
  ping,
  consoleCommand,
  profile,
];

export async function runCommandLine(): Promise<void> {
  const program = buildProgram(COMMANDS);
  addCompletion(program);
  await runProgram(program);
}
