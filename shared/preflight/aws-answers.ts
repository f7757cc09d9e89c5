/** A quota of AWS, as Service Quotas knows it. */
export interface QuotaId {
  /** `rds` */
  readonly service: string;
  /** `L-952B80B8` */
  readonly code: string;
}

export interface Zone {
  /** `us-east-1a`: means another place in each account. */
  readonly name: string;
  /** `use1-az3`: means the same place in all accounts. */
  readonly id: string;
}

/** An instance class of an engine's version that can be had. */
export interface Orderable {
  /** Names of the availability zones. */
  readonly zones: readonly string[];
  readonly dataApi: boolean;
}

/**
 * What an account and a region say of themselves. Each method asks once, however often it is called, and throws an
 * `Unanswered` that says which IAM action is missing, or what else is in the way.
 */
export interface AwsAnswers {
  readonly region: string;
  /** Its number. */
  account(): Promise<string>;
  /** The text of a parameter of Systems Manager, or undefined where there is none. */
  parameter(name: string): Promise<string | undefined>;
  /** Instances of Lambda functions at once: of the account, and of those that no function has reserved. */
  concurrency(): Promise<{ readonly limit: number; readonly unreserved: number }>;
  quota(id: QuotaId): Promise<number>;
  /** By RDS's own names: `DBClusters`. */
  rdsQuotas(): Promise<ReadonlyMap<string, { readonly used: number; readonly most: number }>>;
  clusters(): Promise<readonly string[]>;
  proxies(): Promise<readonly string[]>;
  vpcs(): Promise<number>;
  gatewayEndpoints(): Promise<number>;
  /** Those that are open to the account, without local zones. */
  zones(): Promise<readonly Zone[]>;
  /** Names of the zones in which the account has a default subnet. */
  zonesOfDefaultSubnets(): Promise<readonly string[]>;
  /** The ACUs that a version of an engine takes; undefined where the region does not offer it. */
  engine(engine: string, version: string): Promise<{ readonly acu?: readonly [number, number] } | undefined>;
  orderable(engine: string, version: string, instanceClass: string): Promise<readonly Orderable[]>;
  /** `CREATE_COMPLETE`; undefined where there is no such stack. By its name or its ARN. */
  stackStatus(name: string): Promise<string | undefined>;
  /** Logical ids of what a stack has, also of what is under way. By its name or its ARN. */
  stackResources(name: string): Promise<readonly string[]>;
  logGroups(prefix: string): Promise<readonly string[]>;
  /** CloudFormation makes such resources in the region. */
  offersType(type: string): Promise<boolean>;
}
