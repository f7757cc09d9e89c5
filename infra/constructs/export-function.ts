import { Duration, Size } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { OperationName } from '../../shared/api/operations.ts';
import { environmentOf, type ExportVariable } from '../../shared/environment.ts';
import { acknowledgeObjects } from './evidence.ts';
import { grantBucketKey, grantTableKey } from './key-uses.ts';
import { grantItems } from './granted-items.ts';
import type { SchemalessStorage } from './storage.ts';
import type { StoreApi } from './store-api.ts';
import { Worker } from './worker.ts';

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
export class ExportFunction extends Worker {
  readonly location: string;

  constructor(scope: Construct, id: string, props: ExportFunctionProps) {
    const { storage, api, datastore, bucket, options } = props;
    const { environment, tables } = storage;
    const location = `s3://${bucket.bucketName}/${options.prefix}`;
    super(scope, id, environment, {
      description: `Schemaless: export ${options.name} of ${datastore}`,
      code: props.code,
      // Lambda's maximum; it ends 90 s before.
      timeout: Duration.minutes(15),
      // One CPU, for compression.
      memorySize: 1769,
      // Room for all open files, uncompressed.
      ephemeralStorageSize: Size.gibibytes(2),
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

export interface ExportOptions {
  /** 1 to 30 of a-z, 0-9 and single hyphens; unique in the datastore. @default the format */
  readonly name?: string;
  /** 5 minutes to a day, in whole minutes. @default an hour */
  readonly every?: Duration;
  /** `ndjson` can be imported again; `parquet` is for analysis. Fixed. @default ndjson */
  readonly format?: 'ndjson' | 'parquet';
  /** For NDJSON; Parquet uses snappy. Fixed. @default gzip */
  readonly compression?: 'gzip' | 'zstd' | 'none';
  /** The place in the bucket: up to 200 of letters, digits and `_ . = -` with single slashes. @default the datastore */
  readonly prefix?: string;
  /** The nodes that answer reads of the logs; readers may be behind. @default writer */
  readonly read?: 'writer' | 'reader';
}

type CheckedExport = Required<ExportOptions>;

const LEAST = Duration.minutes(5);
const MOST = Duration.days(1);
const NAME = /^(?=.{1,30}$)[a-z0-9]+(?:-[a-z0-9]+)*$/u;
const PREFIX = /^(?=.{1,200}$)[\w.=-]+(?:\/[\w.=-]+)*$/u;

/** Throws an Error that names the option. */
export function exportOptions(datastore: string, options: ExportOptions): CheckedExport {
  const { format = 'ndjson', compression = 'gzip', every = Duration.hours(1), read = 'writer' } = options;
  const { name = format, prefix = datastore } = options;
  const refuse = (option: string, wanted: string, got: string): never => {
    throw new Error(`export of ${datastore}, ${option}: wanted ${wanted}, got ${got}`);
  };
  if (!['ndjson', 'parquet'].includes(format)) refuse('format', 'ndjson or parquet', format);
  if (!['gzip', 'zstd', 'none'].includes(compression)) refuse('compression', 'gzip, zstd or none', compression);
  if (format === 'parquet' && options.compression !== undefined)
    refuse('compression', 'none with parquet, which has its own', compression);
  if (!['writer', 'reader'].includes(read)) refuse('read', 'writer or reader', read);
  if (!NAME.test(name)) refuse('name', '1 to 30 of a-z, 0-9 and single hyphens', name);
  if (!PREFIX.test(prefix)) refuse('prefix', 'names of letters, digits and _ . = -, with a slash between them', prefix);
  const minutes = every.toMinutes({ integral: false });
  if (minutes < LEAST.toMinutes() || minutes > MOST.toMinutes() || !Number.isInteger(minutes))
    refuse('every', '5 minutes to a day, in whole minutes', every.toHumanString());
  return { name, every, format, compression, prefix, read };
}
