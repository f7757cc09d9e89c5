import { Duration, Size } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, type Code } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { OperationName } from '../../shared/api/operations.ts';
import { environmentOf, type ExportVariable } from '../../shared/environment.ts';
import { acknowledgeLambdaPolicies, acknowledgeObjects, acknowledgeTracing } from './evidence.ts';
import type { CheckedExport } from './export-options.ts';
import { keptLog } from './kept-log.ts';
import { grantBucketKey, grantTableKey } from './key-uses.ts';
import { grantItems } from './table-actions.ts';
import { MACHINE, tracingOf } from './machine.ts';
import type { SchemalessStorage } from './storage.ts';
import type { StoreApi } from './store-api.ts';

const CALLED = ['listShards', 'readLog', 'listIndexes'] as const satisfies readonly OperationName[];

interface ExportFunctionProps {
  readonly storage: SchemalessStorage;
  readonly api: StoreApi;
  readonly datastore: string;
  readonly bucket: IBucket;
  readonly options: CheckedExport;
  readonly code: Code;
}

/**
 * Writes a datastore's new cells into a bucket, through the HTTP API: no VPC, no connections. It may read this
 * datastore's logs, hold one lease, and write below its prefix.
 *
 * It reserves no instance: a small account has none to reserve, and the lease keeps runs apart.
 */
export class ExportFunction extends LambdaFunction {
  readonly location: string;

  constructor(scope: Construct, id: string, props: ExportFunctionProps) {
    const { storage, api, datastore, bucket, options } = props;
    const { environment, tables } = storage;
    const location = `s3://${bucket.bucketName}/${options.prefix}`;
    super(scope, id, {
      ...MACHINE,
      description: `Schemaless: export ${options.name} of ${datastore}`,
      handler: 'index.handler',
      code: props.code,
      // Lambda's maximum; it ends 90 s before.
      timeout: Duration.minutes(15),
      // One CPU, for compression.
      memorySize: 1769,
      // Room for all open files, uncompressed.
      ephemeralStorageSize: Size.gibibytes(2),
      logGroup: keptLog(scope, id, environment),
      // The next run continues.
      retryAttempts: 0,
      tracing: tracingOf(environment),
      environment: environmentOf<ExportVariable>({
        environment: environment.name,
        stateTable: tables.state.tableName,
        apiUrl: api.api.apiEndpoint,
        datastore,
        exportTo: location,
        exportFormat: options.format,
        exportCompression: options.compression,
        exportRead: options.read,
      }),
    });
    this.location = location;
    acknowledgeLambdaPolicies(this);
    acknowledgeTracing(this);
    api.grantCalls(this, datastore, CALLED);
    grantItems(this, tables.state, ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [`lease#export#${location}`]);
    grantTableKey(this, storage.encryptionKey, 'write');
    this.grantFiles(bucket, options.prefix);
  }

  /** Allows writing files, and reading and deleting positions: no cell can be read or deleted. */
  private grantFiles(bucket: IBucket, prefix: string): void {
    const files = bucket.arnForObjects(`${prefix}/part-*`);
    const positions = bucket.arnForObjects(`${prefix}/part-*/_*`);
    const statements: readonly (readonly [readonly string[], string])[] = [
      // Without it a missing object looks like a denied one.
      [['s3:ListBucket'], bucket.bucketArn],
      [['s3:PutObject', 's3:AbortMultipartUpload'], files],
      [['s3:GetObject', 's3:DeleteObject'], positions],
    ];
    for (const [actions, resource] of statements)
      this.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [resource] }));
    acknowledgeObjects(this, bucket, [files, positions]);
    grantBucketKey(this, bucket.encryptionKey);
  }
}
