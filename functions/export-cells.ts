import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schemalessClient } from '../shared/client/client.ts';
import { requestSigner } from '../shared/client/sign-request.ts';
import { leases } from '../shared/dynamo/lease.ts';
import { EXPORT_VARIABLES } from '../shared/environment.ts';
import { LEASE_MS, runExport } from '../shared/files/run-export.ts';
import { readS3Address, s3Target } from '../shared/files/s3-target.ts';
import { EXPORT_DIMENSION, METRICS } from '../shared/metrics.ts';
import { readConfig } from './environment/config.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { logger, gauge } from './environment/log.ts';

/** Before the time limit: stores open files, up to 36 MiB each. */
const TIME_TO_END_MS = 90_000;
const LAST_MS = 10_000;

/** Writes a datastore's new cells into a bucket, on a schedule, over the HTTP API: it needs no VPC. */
export async function handler(_event: unknown, lambda: Context): Promise<void> {
  const config = readConfig([...EXPORT_VARIABLES, 'region', 's3Endpoint']);
  const { apiUrl: url, datastore, exportTo, exportFormat: format, exportCompression: compression } = config;
  const address = readS3Address(exportTo);
  if (!address) throw new Error(`The place of the export: wanted s3://bucket/prefix, got ${exportTo}`);
  const leftMs = lambda.getRemainingTimeInMillis();
  const last = AbortSignal.timeout(Math.max(0, leftMs - LAST_MS));
  const target = await s3Target(address.bucket, address.prefix, {
    endpoint: config.s3Endpoint === '' ? undefined : config.s3Endpoint,
    // Removes a killed run's files, which would fill the disk.
    folder: join(tmpdir(), lambda.functionName),
    signal: last,
  });
  const dynamo = dynamoClient();
  try {
    const report = await runExport(schemalessClient({ url, datastore, sign: requestSigner(config.region) }), {
      target,
      format,
      compression,
      read: config.exportRead,
      leases: leases({ client: dynamo, table: config.stateTable }, randomUUID(), LEASE_MS),
      signal: AbortSignal.timeout(Math.max(0, leftMs - TIME_TO_END_MS)),
      last,
    });
    if (!report) return void logger.warn('another run of this export is under way', { export: target.name });
    logger[report.silent > 0 ? 'warn' : 'info']('exported', { export: target.name, datastore, ...report });
    gauge(
      {
        [METRICS.exportBehindSeconds]: Math.round(report.behindSeconds),
        [METRICS.exportCells]: report.cells,
        [METRICS.exportLeftCells]: report.left,
      },
      { [EXPORT_DIMENSION]: target.name },
    );
  } finally {
    await target.close();
    dynamo.destroy();
  }
}
