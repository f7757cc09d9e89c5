#!/usr/bin/env node
/** `rds-data-api-local --mysql mysql://…`: an RDS Data API over MySQL or MariaDB servers, until Ctrl-C. */
import { Command } from 'commander';
import { startDataApi } from './data-api.ts';
import { dataApiFlags, type DataApiFlags } from './flags.ts';
import type { DataApiEvent } from './http-server.ts';

const command = new Command('rds-data-api-local')
  .description("Serves the RDS Data API over MySQL or MariaDB servers, with the real one's limits.")
  .showHelpAfterError();
for (const flag of dataApiFlags()) command.addOption(flag);
command.parse();
const { cluster = [], mysql, host, port, limit = {}, fault = [], seed, quiet } = command.opts<DataApiFlags>();
if (!mysql && cluster.length === 0) command.error('error: --mysql or --cluster: wanted at least one server, got none.');

try {
  const api = await startDataApi({
    host,
    port,
    clusters: (resourceArn) => {
      const found = cluster.find((one) => one.resourceArn === resourceArn);
      return found && 'user' in found ? found : mysql;
    },
    limits: limit,
    faults: fault,
    seed,
    report: quiet ? () => undefined : show,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void api.stop().then(() => process.exit(0)));
  console.log(`ready ${api.url}`);
  console.log(`AWS_ENDPOINT_URL_RDS_DATA=${api.url}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

function show({ operation, status, milliseconds, exception, message }: DataApiEvent): void {
  if (status === 200) return;
  console.log(
    `${operation} ${status ?? 'cut'} ${milliseconds} ms${exception === undefined ? '' : ` ${exception}: ${message ?? ''}`}`,
  );
}
