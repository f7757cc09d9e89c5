import { buildProgram, runProgram, type CommandOf } from './cli.ts';
import { api } from './commands/api.ts';
import { buffer } from './commands/buffer.ts';
import { clone } from './commands/clone.ts';
import { consoleCommand } from './commands/console.ts';
import { applyCommand, checkCommand, deleteCommand } from './commands/definitions.ts';
import { digest } from './commands/digest.ts';
import { erase } from './commands/erase.ts';
import { erasure, erasures, retention } from './commands/erasures.ts';
import { explain } from './commands/explain.ts';
import { forget, forgotten } from './commands/forget.ts';
import { query, verifyIndex } from './commands/indexes.ts';
import { move } from './commands/move.ts';
import { parked } from './commands/parked.ts';
import { ping } from './commands/ping.ts';
import { profile } from './commands/profile.ts';
import { put } from './commands/put.ts';
import { get, latest, row, versions } from './commands/read.ts';
import { rebalance, shards } from './commands/shards.ts';
import { tail } from './commands/tail.ts';
import { transact } from './commands/transact.ts';
import { triggers } from './commands/triggers.ts';
import { addCompletion } from './completion.ts';
import { compareCommand } from './files/compare-command.ts';
import { exportCommand } from './files/export-command.ts';
import { importCommand } from './files/import-command.ts';
import { closeWithReaders } from './output/output.ts';

const COMMANDS: readonly CommandOf[] = [
  put,
  transact,
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
  closeWithReaders(process);
  const program = buildProgram(COMMANDS);
  await addCompletion(program);
  await runProgram(program);
}
