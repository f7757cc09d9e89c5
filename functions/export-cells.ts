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
import { logger, gaugeOf } from './environment/log.ts';

/** Before the function's time limit: enough to store the files that are open, up to 36 MiB each. */
const TIME_TO_END_MS = 90_000;
/** Before the time limit, too: by then nothing is written any more. */
const LAST_MS = 10_000;

/**
 * Started by a schedule; writes what a datastore got since the last run into a bucket.
 *
 * It asks the HTTP API, as anybody does: so it may do no more than read the datastore's logs, needs no place in the VPC
 * and takes no connections from those who serve requests; what an answer costs is little next to the cells in it.
 */
export async function handler(_event: unknown, lambda: Context): Promise<void> {
  const config = readConfig([...EXPORT_VARIABLES, 'region', 's3Endpoint']);
  const { apiUrl: url, datastore, exportTo, exportFormat: format, exportCompression: compression } = config;
  const address = readS3Address(exportTo);
  if (!address) throw new Error(`The place of the export: wanted s3://bucket/prefix, got ${exportTo}`);
  const leftMs = lambda.getRemainingTimeInMillis();
  const last = AbortSignal.timeout(Math.max(0, leftMs - LAST_MS));
  const target = await s3Target(address.bucket, address.prefix, {
    endpoint: config.s3Endpoint === '' ? undefined : config.s3Endpoint,
    // What a killed run left here would fill the disk of its instance.
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
    gaugeOf(
      { [EXPORT_DIMENSION]: target.name },
      {
        [METRICS.exportBehindSeconds]: Math.round(report.behindSeconds),
        [METRICS.exportCells]: report.cells,
        [METRICS.exportLeftCells]: report.left,
      },
    );
  } finally {
    await target.close();
    dynamo.destroy();
  }
}
